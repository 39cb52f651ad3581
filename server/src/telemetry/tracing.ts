import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { toAttemptStartSpan, toAttemptEndSpan, toRequestEndSpan } from './span-attributes'
import { isTraced, readTraceParent, type TraceParent } from './trace-parent'
import type { TracingConfig } from '../platform/config/telemetry'
import type { UsageEvent } from '../ledger/usage-event'
import type { RequestTrace } from '../request-logs/arrival'
import type { LogValues } from '../request-logs/log-record'

/** A request to a model that has come. */
export interface TraceableRequest {
  request: Request
  requestId: string
  path: string
}

/** Traces requests. */
export interface Tracing {
  /** Undefined for a request that is not traced. */
  begin: (request: TraceableRequest) => RequestTrace | undefined
}

interface Options {
  config: TracingConfig
  version: string
  /** Called with an error about spans that could not be sent, now and then. */
  onError: (message: string) => void
}

const closingMs = 3000
const reportEveryMs = 60_000
const clientClosedRequest = 499

/** Sends traces by OTLP over HTTP, to the address in `OTEL_EXPORTER_OTLP_…`; failures there affect nothing else. */
export class OpenTelemetry implements Tracing, AsyncDisposable {
  readonly #config: TracingConfig
  readonly #provider: TracerProvider
  readonly #tracer: Tracer

  constructor({ config, version, onError }: Options) {
    this.#config = config
    const { max, batch, everyMs, timeoutMs } = config.queue
    const own = resourceFromAttributes({
      'service.version': version,
      'service.instance.id': crypto.randomUUID(),
    })
    const namedResource = resourceFromAttributes({ 'service.name': config.serviceName })
    reportFailures(onError)
    this.#provider = new TracerProvider({
      resource: own.merge(detectResources({ detectors: [envDetector] })).merge(namedResource),
      // Whether a request is traced was decided before it comes here.
      sampler: new AlwaysOnSampler(),
      spanLimits: { attributeCountLimit: 40, attributeValueLengthLimit: 256, eventCountLimit: 0 },
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: new OTLPTraceExporter(),
          maxQueueSize: max,
          maxExportBatchSize: batch,
          scheduledDelayMillis: everyMs,
          exportTimeoutMillis: timeoutMs,
        }),
      ],
    })
    this.#tracer = this.#provider.getTracer('tollgate', version)
  }

  begin(request: TraceableRequest): RequestTrace | undefined {
    const parent = readTraceParent(request.request.headers.get('traceparent'))
    if (!isTraced(this.#config, parent)) return undefined
    const { propagatesTraces } = this.#config
    return new TracedRequest(request, { tracer: this.#tracer, parent, propagatesTraces })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const late = Bun.sleep(closingMs)
    await Promise.race([this.#provider.shutdown().catch(() => undefined), late])
    diag.disable()
  }
}

const quiet = () => undefined

/** Once a minute at most: a collector that is away is away for every batch. */
function reportFailures(onError: (message: string) => void): void {
  let reportedAtMs = -Infinity
  const report = (message: string) => {
    if (performance.now() - reportedAtMs < reportEveryMs) return
    reportedAtMs = performance.now()
    onError(message.slice(0, 300))
  }
  const logger = { error: report, warn: report, info: quiet, debug: quiet, verbose: quiet }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

interface RequestTracing {
  tracer: Tracer
  parent: TraceParent | undefined
  propagatesTraces: boolean
}

const contextOf = (parent: TraceParent | undefined): Context => {
  if (!parent) return ROOT_CONTEXT
  const { traceId, spanId } = parent
  const traceFlags = TraceFlags.SAMPLED
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

/** One request: a span for it, and one within for each attempt. */
class TracedRequest implements RequestTrace {
  readonly #tracer: Tracer
  readonly #propagatesTraces: boolean
  readonly #span: Span
  readonly #context: Context
  #attempt: Span | undefined
  #isAnswered = false
  #hasEnded = false

  constructor(
    { requestId, path }: TraceableRequest,
    { tracer, parent, propagatesTraces }: RequestTracing,
  ) {
    this.#tracer = tracer
    this.#propagatesTraces = propagatesTraces
    const attributes = {
      'http.request.method': 'POST',
      'http.route': path,
      'tollgate.request_id': requestId,
    }
    const context = contextOf(parent)
    this.#span = tracer.startSpan(`POST ${path}`, { kind: SpanKind.SERVER, attributes }, context)
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#span)
  }

  get traceparent(): string | undefined {
    if (!this.#propagatesTraces || !this.#attempt) return undefined
    const { traceId, spanId } = this.#attempt.spanContext()
    return `00-${traceId}-${spanId}-01`
  }

  beginAttempt(event: UsageEvent, failed: UsageEvent | undefined): void {
    if (failed) this.#endAttempt(failed)
    const { name, attributes } = toAttemptStartSpan(event)
    this.#attempt = this.#tracer.startSpan(
      name,
      { kind: SpanKind.CLIENT, attributes },
      this.#context,
    )
  }

  #endAttempt(event: UsageEvent): void {
    this.#attempt?.setAttributes(toAttemptEndSpan(event))
    if (event.outcome !== 'ok') this.#attempt?.setStatus({ code: SpanStatusCode.ERROR })
    this.#attempt?.end()
    this.#attempt = undefined
  }

  ended(values: LogValues, event: UsageEvent | undefined): void {
    if (event) this.#endAttempt(event)
    this.#attempt?.end()
    this.#attempt = undefined
    this.#span.setAttributes(toRequestEndSpan(values, event))
    if (values.status !== 'success') this.#fail(values.statusCode)
    this.#hasEnded = true
    if (this.#isAnswered) this.#span.end()
  }

  answered(status: number, hasLog: boolean): void {
    this.#span.setAttribute('http.response.status_code', status)
    this.#fail(status)
    this.#isAnswered = true
    if (this.#hasEnded || !hasLog) this.#span.end()
  }

  /** A caller's own fault is none of the server's: its span is not in error. */
  #fail(status: number): void {
    if (status >= 500 || status === clientClosedRequest) {
      this.#span.setStatus({ code: SpanStatusCode.ERROR })
    }
  }
}
