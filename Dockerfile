# The market as a service, for a Hugging Face Space or any host with Docker: see deploy/README.md.
FROM python:3.11-slim

RUN useradd --create-home --uid 1000 daedalus \
 && mkdir -p /home/daedalus/app/outputs \
 && chown -R 1000 /home/daedalus
WORKDIR /home/daedalus/app

# TORCH_INDEX may name an index with PyTorch's builds for CPUs. The default index has a build for
# GPUs, which also works and takes gigabytes.
ARG TORCH_INDEX=""
COPY requirements.txt .
RUN grep '^torch==' requirements.txt > /tmp/torch.txt \
 && pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} -r /tmp/torch.txt \
 && pip install --no-cache-dir -r requirements.txt

USER 1000
COPY --chown=1000 . .
ENV NUMBA_CACHE_DIR=/home/daedalus/.cache/numba
RUN python -m deploy.compile

EXPOSE 7860
CMD ["python", "run.py", "+experiment=serve", "service.host=0.0.0.0", "service.port=7860", \
     "service.hosts=[localhost,'*.hf.space']"]
