# The image holds one static binary and nothing else. It needs no privilege to
# read; what it must see of the host is mounted:
#
#   docker run --rm --network host --read-only \
#     --mount type=bind,source=/proc,target=/host/proc,readonly \
#     --mount type=bind,source=/sys,target=/host/sys,readonly \
#     netsteer
#
# --network host: netlink answers for the container's own namespace, and
# netsteer says so instead of guessing.
#
# The compiler runs on the builder's own platform, whatever the image is for.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH
# .git stays outside: --build-arg REVISION=$(git rev-parse HEAD) names the commit.
ARG REVISION=unknown
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH make build REVISION=$REVISION

FROM scratch
COPY --from=build /src/netsteer /netsteer
# nobody: a number, as there is no /etc/passwd.
USER 65534:65534
EXPOSE 10420
# With another --web.listen-address, healthcheck takes it too: replace both.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/netsteer", "healthcheck"]
ENTRYPOINT ["/netsteer", "--path.procfs=/host/proc", "--path.sysfs=/host/sys"]
