import type { AnswerCounts } from './answer-counts'
import type { AuditCounts } from './audit-counts'
import type { MetricsSnapshot } from './metrics-snapshot'
import type { Histogram } from './histogram'
import type { UsageCounts } from './model-counts'
import type { ProcessFigures } from './process-figures'

/** The source of all metrics. */
export interface MetricsSource {
  version: string
  commit: string | null
  answers: AnswerCounts
  usage: UsageCounts
  audits: AuditCounts
  figures: MetricsSnapshot
  process: ProcessFigures
}

type Labels = Readonly<Record<string, string>>

export interface Sample {
  labels: Labels
  value: number
}

interface Described {
  name: string
  help: string
  /** The names of labels. No value of one is a text of a caller's choice. */
  labels: readonly string[]
}

export interface PlainMetric extends Described {
  type: 'counter' | 'gauge'
  samples: (source: MetricsSource) => readonly Sample[]
}

export interface HistogramMetric extends Described {
  type: 'histogram'
  histograms: (source: MetricsSource) => readonly { labels: Labels; histogram: Histogram }[]
}

export type Metric = PlainMetric | HistogramMetric

/** Nano-dollars as USD. */
export const usd = (nanos: bigint | number): number => Number(nanos) / 1e9

export const one = (value: number): Sample[] => [{ labels: {}, value }]

export const yes = (is: boolean): number => (is ? 1 : 0)
