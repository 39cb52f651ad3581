import { z } from 'zod'
import { flag, optional, url, integer } from './fields'
import { setting } from './setting'

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const collector = () => optional(url(/^https?$/))

/** The settings of logs, metrics and traces. */
export const telemetrySettings = z.object({
  logLevel: setting(
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    {
      name: 'LOG_LEVEL',
      doc: '`trace`, `debug`, `info`, `warn`, `error`, `fatal`, `silent`',
    },
  ),
  logsRequests: setting(flag(true), {
    name: 'LOG_REQUESTS',
    doc: 'write a line to the process log for each request',
  }),
  metricsPort: setting(optional(integer(0, 65_535)), {
    name: 'METRICS_PORT',
    doc: 'internal port of `/metrics`, `/healthz` and `/readyz` ([observability.md](observability.md))',
  }),
  metricsHost: setting(z.string().default('127.0.0.1'), {
    name: 'METRICS_HOST',
    doc: 'address of that port',
  }),
  endpoint: setting(collector(), {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    doc: 'a trace collector: `http://localhost:4318`',
  }),
  tracesEndpoint: setting(collector(), {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    doc: 'the same with its full path; takes precedence',
  }),
  isDisabled: setting(flag(false), {
    name: 'OTEL_SDK_DISABLED',
    doc: 'disables traces, regardless of other settings',
  }),
  serviceName: setting(z.string().max(200).default('tollgate'), {
    name: 'OTEL_SERVICE_NAME',
    doc: 'service name in traces',
  }),
  sampler: setting(z.enum(samplers).default('parentbased_always_on'), {
    name: 'OTEL_TRACES_SAMPLER',
    doc: 'which requests are traced; also `always_on`, `always_off`, `traceidratio`, `parentbased_always_off`, `parentbased_traceidratio`',
  }),
  samplerRatio: setting(z.coerce.number().min(0).max(1).default(1), {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    doc: 'the share of requests, 0 to 1',
  }),
  maxQueueSize: setting(integer(1, 100_000).default(2048), {
    name: 'OTEL_BSP_MAX_QUEUE_SIZE',
    doc: 'spans that can wait for the collector; more are dropped',
  }),
  maxBatchSize: setting(integer(1, 10_000).default(512), {
    name: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    doc: 'spans per batch',
  }),
  exportEveryMs: setting(integer(10, 60_000).default(5000), {
    name: 'OTEL_BSP_SCHEDULE_DELAY',
    doc: 'milliseconds between two batches',
  }),
  exportTimeoutMs: setting(integer(100, 60_000).default(10_000), {
    name: 'OTEL_BSP_EXPORT_TIMEOUT',
    doc: 'milliseconds until an export times out',
  }),
  propagatesTraces: setting(flag(false), {
    name: 'TRACE_UPSTREAMS',
    doc: 'forward the trace context over platform connections',
  }),
})

/** The settings of tracing. */
export interface TracingConfig {
  serviceName: string
  /** The share of requests to trace, 0 to 1. */
  ratio: number
  /** Whether the caller's decision not to trace a request is followed. */
  followsParent: boolean
  queue: { max: number; batch: number; everyMs: number; timeoutMs: number }
  /** Whether requests to the operator's own connections carry the trace context. */
  propagatesTraces: boolean
}

/** The logs, metrics and traces of the process. */
export interface TelemetryConfig {
  logLevel: string
  /** Whether each request writes a line to the log. */
  logsRequests: boolean
  /** The address that serves metrics; undefined for none. */
  listener: { port: number; host: string } | undefined
  /** Undefined if traces are not collected. */
  tracing: TracingConfig | undefined
}

type Telemetry = z.output<typeof telemetrySettings>

function ratioOf({ sampler, samplerRatio }: Telemetry): number {
  if (sampler.endsWith('always_off')) return 0
  return sampler.endsWith('traceidratio') ? samplerRatio : 1
}

const toTracing = (settings: Telemetry): TracingConfig => ({
  serviceName: settings.serviceName,
  ratio: ratioOf(settings),
  followsParent: settings.sampler.startsWith('parentbased'),
  queue: {
    max: settings.maxQueueSize,
    batch: Math.min(settings.maxBatchSize, settings.maxQueueSize),
    everyMs: settings.exportEveryMs,
    timeoutMs: settings.exportTimeoutMs,
  },
  propagatesTraces: settings.propagatesTraces,
})

export function toTelemetryConfig(settings: Telemetry): TelemetryConfig {
  const { logLevel, logsRequests, metricsPort: port, metricsHost: host } = settings
  const hasCollector = (settings.tracesEndpoint ?? settings.endpoint) !== undefined
  return {
    logLevel,
    logsRequests,
    listener: port === undefined ? undefined : { port, host },
    tracing: hasCollector && !settings.isDisabled ? toTracing(settings) : undefined,
  }
}
