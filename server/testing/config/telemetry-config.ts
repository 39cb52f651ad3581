/** Values of telemetry variables that are rejected. */
export const badTelemetry: Record<string, string[]> = {
  LOG_REQUESTS: ['1', 'no'],
  METRICS_PORT: ['-1', '65536', 'http'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318', 'grpc://collector'],
  OTEL_TRACES_SAMPLER: ['sometimes', 'jaeger_remote'],
  OTEL_TRACES_SAMPLER_ARG: ['-0.1', '1.1', 'half'],
  OTEL_BSP_MAX_QUEUE_SIZE: ['0', '100001', 'long'],
  TRACE_UPSTREAMS: ['1', 'yes'],
}
