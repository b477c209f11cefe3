# Two images from one file; neither needs a CUDA base image.
#
#   docker build --target cpu  -t gpubcast .
#   docker build --target cuda -t gpubcast:cuda .
#   docker run --rm --gpus all -v gpubcast-cache:/cache gpubcast:cuda
#
# CUDA's runtime, headers and NVRTC come as wheels; the driver is the host's, passed in by the
# NVIDIA Container Toolkit.

FROM python:3.13-slim-trixie AS builder
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY gpubcast ./gpubcast
COPY cuda_kernels ./cuda_kernels
COPY bench ./bench
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /dist .

FROM python:3.13-slim-trixie AS base
ENV PYTHONUNBUFFERED=1 \
    GPUBCAST_CACHE_DIR=/cache/gpubcast \
    CUPY_CACHE_DIR=/cache/cupy
# A new volume takes the owner and the mode of the folder in the image. USER below is a number, so
# that a cluster that refuses root can see that it is not.
RUN useradd --create-home --uid 1000 gpubcast \
    && install --directory --owner=gpubcast --group=gpubcast --mode=0700 /cache
VOLUME ["/cache"]
WORKDIR /home/gpubcast
ENTRYPOINT ["gpubcast"]
CMD ["demo"]

FROM base AS cuda
ENV NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
RUN --mount=type=bind,from=builder,source=/dist,target=/dist \
    python -m pip install --no-cache-dir "$(echo /dist/*.whl)[cuda13]"
USER 1000:1000

# The last target is what a build without --target makes: the one that runs anywhere.
FROM base AS cpu
RUN --mount=type=bind,from=builder,source=/dist,target=/dist \
    python -m pip install --no-cache-dir /dist/*.whl
USER 1000:1000
