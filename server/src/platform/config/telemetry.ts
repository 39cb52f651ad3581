import { z } from 'zod'
import { flag } from './fields'

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const address = z.url({ protocol: /^https?$/ }).optional()

/** The variables of logs, metrics and traces, for the schema of the environment. */
export const telemetryVariables = {
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  LOG_REQUESTS: flag(true),
  METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  METRICS_HOST: z.string().default('127.0.0.1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: address,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address,
  OTEL_SDK_DISABLED: flag(false),
  OTEL_SERVICE_NAME: z.string().max(200).default('tollgate'),
  OTEL_TRACES_SAMPLER: z.enum(samplers).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_BSP_MAX_QUEUE_SIZE: z.coerce.number().int().min(1).max(100_000).default(2048),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: z.coerce.number().int().min(1).max(10_000).default(512),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce.number().int().min(10).max(60_000).default(5000),
  OTEL_BSP_EXPORT_TIMEOUT: z.coerce.number().int().min(100).max(60_000).default(10_000),
  TRACE_UPSTREAMS: flag(false),
}

/** The settings of tracing. */
export interface TracingConfig {
  serviceName: string
  /** The share of requests to trace, 0 to 1. */
  ratio: number
  /** Whether the caller's decision not to trace a request is followed. */
  followsParent: boolean
  queue: { most: number; batch: number; everyMs: number; timeoutMs: number }
  /** Whether requests to the operator's own connections carry the trace context. */
  tellsUpstreams: boolean
}

/** The settings of logs, metrics and traces. */
export interface TelemetryConfig {
  logLevel: string
  /** Whether each request writes a line to the log. */
  logsRequests: boolean
  /** The address that serves metrics; undefined for none. */
  listener: { port: number; host: string } | undefined
  /** Undefined if traces are not collected. */
  tracing: TracingConfig | undefined
}

type Variables = z.infer<z.ZodObject<typeof telemetryVariables>>

const ratioOf = ({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio }: Variables) => {
  if (sampler.endsWith('always_off')) return 0
  return sampler.endsWith('traceidratio') ? ratio : 1
}

const toTracing = (env: Variables): TracingConfig => ({
  serviceName: env.OTEL_SERVICE_NAME,
  ratio: ratioOf(env),
  followsParent: env.OTEL_TRACES_SAMPLER.startsWith('parentbased'),
  queue: {
    most: env.OTEL_BSP_MAX_QUEUE_SIZE,
    batch: Math.min(env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, env.OTEL_BSP_MAX_QUEUE_SIZE),
    everyMs: env.OTEL_BSP_SCHEDULE_DELAY,
    timeoutMs: env.OTEL_BSP_EXPORT_TIMEOUT,
  },
  tellsUpstreams: env.TRACE_UPSTREAMS,
})

export function toTelemetry(env: Variables): TelemetryConfig {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT
  const { METRICS_PORT: port, METRICS_HOST: host } = env
  return {
    logLevel: env.LOG_LEVEL,
    logsRequests: env.LOG_REQUESTS,
    listener: port === undefined ? undefined : { port, host },
    tracing: endpoint === undefined || env.OTEL_SDK_DISABLED ? undefined : toTracing(env),
  }
}
