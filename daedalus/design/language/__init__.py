"""What language models read and write: prompts, explanations, chats."""
