# The market as a service, for a Hugging Face Space or any host with Docker: see deploy/README.md.
FROM python:3.11-slim

RUN useradd --uid 1000 daedalus \
 && mkdir -p /app/outputs \
 && chown -R 1000 /app
WORKDIR /app

# TORCH_INDEX may name an index with PyTorch's builds for CPUs. The default index has a build for
# GPUs, which also works and takes gigabytes.
ARG TORCH_INDEX=""
COPY requirements.txt deploy/image-requirements.txt /tmp/
RUN pip install --no-cache-dir --constraint /tmp/requirements.txt \
    ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch \
 && pip install --no-cache-dir --constraint /tmp/requirements.txt -r /tmp/image-requirements.txt

USER 1000
COPY --chown=1000 . .
ENV NUMBA_CACHE_DIR=/app/.cache HF_HOME=/tmp/huggingface XDG_CACHE_HOME=/tmp/cache
RUN python -m deploy.compile

# The run's own files go to /tmp, so the rest of the image may be read-only.
EXPOSE 8000
CMD ["python", "run.py", "+experiment=serve", "service.host=0.0.0.0", \
     "service.hosts=[localhost,'*.hf.space']", \
     "hydra.run.dir=/tmp/serve_${now:%Y-%m-%d_%H-%M-%S}"]
