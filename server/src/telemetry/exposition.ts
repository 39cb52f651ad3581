import { Counter, Gauge, Histogram as PromHistogram, Registry } from 'prom-client'
import type { HistogramMetric, Metric, PlainMetric, MetricsSource } from './metric'
import { requestMetrics } from './request-metrics'
import { auditDeliveryMetrics } from './audit-delivery-metrics'
import { stateMetrics } from './state-metrics'

/** The full list of metrics. */
export const metrics: readonly Metric[] = [
  ...requestMetrics,
  ...stateMetrics,
  ...auditDeliveryMetrics,
]

/** A histogram in the registry's own format. */
interface Written {
  metricName: string
  labels: Record<string, string | number>
  value: number
}

/** A histogram that is counted elsewhere. */
class Collected extends PromHistogram {
  readonly #metric: HistogramMetric
  readonly #source: () => MetricsSource

  constructor(metric: HistogramMetric, { source, registry }: Reading) {
    const { name, help, labels } = metric
    super({ name, help, labelNames: [...labels], registers: [registry] })
    this.#metric = metric
    this.#source = source
  }

  /** The registry calls it for the values, in place of its own. */
  async getForPromString() {
    const { name, help, type } = this.#metric
    const values: Written[] = []
    for (const { labels, histogram } of this.#metric.histograms(this.#source())) {
      const sums = histogram.cumulated()
      for (const [at, value] of sums.entries()) {
        const le = histogram.bounds[at] ?? '+Inf'
        values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value })
      }
      values.push({ metricName: `${name}_sum`, labels, value: histogram.sum })
      values.push({ metricName: `${name}_count`, labels, value: sums.at(-1) ?? 0 })
    }
    return { name, help, type, values }
  }
}

interface Reading {
  source: () => MetricsSource
  registry: Registry
}

function register(metric: PlainMetric, { source, registry }: Reading): void {
  const { name, help } = metric
  const options = { name, help, labelNames: [...metric.labels], registers: [registry] }
  if (metric.type === 'gauge') {
    const gauge = new Gauge({
      ...options,
      collect() {
        gauge.reset()
        const samples = metric.samples(source())
        // A metric without labels always has one sample, and it is 0.
        if (samples.length === 0) gauge.remove({})
        for (const { labels, value } of samples) gauge.set(labels, value)
      },
    })
    return
  }
  const counter = new Counter({
    ...options,
    collect() {
      counter.reset()
      for (const { labels, value } of metric.samples(source())) counter.inc(labels, value)
    },
  })
}

/** Of the text format of Prometheus. */
export const contentType = Registry.PROMETHEUS_CONTENT_TYPE

export interface Exposition {
  contentType: string
  /** Returns the text of all metrics as they are now. */
  write: () => Promise<string>
}

/** Creates the writer of metrics; it calls `read` once for each writing. */
export function createExposition(read: () => MetricsSource): Exposition {
  const registry = new Registry()
  let current: MetricsSource | undefined
  const source = () => (current ??= read())
  for (const metric of metrics) {
    if (metric.type !== 'histogram') register(metric, { source, registry })
    else registry.registerMetric(new Collected(metric, { source, registry }))
  }
  return {
    contentType,
    write: () => {
      current = undefined
      return registry.metrics()
    },
  }
}
