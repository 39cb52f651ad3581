import { one, usd, type Metric, type Sample } from './metric'
import { outcomes, tokenKinds, type ModelCounts, type UsageCounts } from './model-counts'

/** Metrics of requests. */
export const requestMetrics: readonly Metric[] = [
  {
    name: 'tollgate_http_requests_total',
    type: 'counter',
    help: 'Responses of the public port, by endpoint and status; 499 is a client that disconnected.',
    labels: ['endpoint', 'status'],
    samples: ({ answers }) =>
      answers.answers().map(({ endpoint, status, count }) => ({
        labels: { endpoint, status: String(status) },
        value: count,
      })),
  },
  {
    name: 'tollgate_http_request_duration_seconds',
    type: 'histogram',
    help: 'Time to the head of a response; for a stream, to its first event.',
    labels: ['endpoint'],
    histograms: ({ answers }) =>
      answers.durations().map(({ endpoint, histogram }) => ({ labels: { endpoint }, histogram })),
  },
  {
    name: 'tollgate_overhead_seconds',
    type: 'histogram',
    help: 'The part of that which answered model requests spent in Tollgate, without waiting for providers.',
    labels: [],
    histograms: ({ answers }) => [{ labels: {}, histogram: answers.overhead }],
  },
  {
    name: 'tollgate_errors_total',
    type: 'counter',
    help: 'Errors returned to clients, by code, including errors within a stream.',
    labels: ['code'],
    samples: ({ answers }) =>
      answers.errors().map(({ code, count }) => ({ labels: { code }, value: count })),
  },
  {
    name: 'tollgate_refused_total',
    type: 'counter',
    help: 'Requests rejected by a limit or the balance, by kind of limit.',
    labels: ['limit'],
    samples: ({ answers }) =>
      answers.refusals().map(({ limit, count }) => ({ labels: { limit }, value: count })),
  },
  {
    name: 'tollgate_model_requests_total',
    type: 'counter',
    help: 'Model requests with an accepted key, by the model that served and the outcome.',
    labels: ['model', 'provider', 'status'],
    samples: ({ usage }) =>
      usage
        .models()
        .flatMap(({ model, provider, requests }) =>
          Object.entries(requests).flatMap(([status, value]) =>
            value > 0 ? [{ labels: { model, provider, status }, value }] : [],
          ),
        ),
  },
  {
    name: 'tollgate_model_request_duration_seconds',
    type: 'histogram',
    help: 'Duration of requests that called a provider, to the last byte.',
    labels: ['model', 'provider'],
    histograms: ({ usage }) =>
      usage
        .models()
        .flatMap(({ model, provider, duration: histogram }) =>
          histogram.count > 0 ? [{ labels: { model, provider }, histogram }] : [],
        ),
  },
  {
    name: 'tollgate_time_to_first_token_seconds',
    type: 'histogram',
    help: 'Time from the arrival of a streaming request to its first event.',
    labels: ['model', 'provider'],
    histograms: ({ usage }) =>
      usage
        .models()
        .flatMap(({ model, provider, firstToken: histogram }) =>
          histogram.count > 0 ? [{ labels: { model, provider }, histogram }] : [],
        ),
  },
  {
    name: 'tollgate_tokens_total',
    type: 'counter',
    help: 'Booked tokens, in disjoint kinds.',
    labels: ['model', 'provider', 'kind'],
    samples: ({ usage }) =>
      usage.models().flatMap(({ model, provider, tokens }) =>
        tokenKinds.flatMap(([, kind], at) => {
          const value = tokens[at] ?? 0
          return value > 0 ? [{ labels: { model, provider, kind }, value }] : []
        }),
      ),
  },
  {
    name: 'tollgate_images_total',
    type: 'counter',
    help: 'Images that models made.',
    labels: ['model', 'provider'],
    samples: ({ usage }) => byModel(usage, ({ images }) => images),
  },
  {
    name: 'tollgate_transcribed_seconds_total',
    type: 'counter',
    help: 'Sound that was transcribed or translated.',
    labels: ['model', 'provider'],
    samples: ({ usage }) => byModel(usage, ({ transcribedMs }) => transcribedMs / 1000),
  },
  {
    name: 'tollgate_speech_characters_total',
    type: 'counter',
    help: 'Unicode characters of the texts that were spoken.',
    labels: ['model', 'provider'],
    samples: ({ usage }) => byModel(usage, ({ speechCharacters }) => speechCharacters),
  },
  {
    name: 'tollgate_speech_seconds_total',
    type: 'counter',
    help: 'Their sound; an estimate by its bytes where those do not say, as in streams of FLAC.',
    labels: ['model', 'provider'],
    samples: ({ usage }) => byModel(usage, ({ speechMs }) => speechMs / 1000),
  },
  {
    name: 'tollgate_cost_usd_total',
    type: 'counter',
    help: 'Amount charged to accounts.',
    labels: ['model', 'provider'],
    samples: ({ usage }) => byModel(usage, ({ cost }) => usd(cost)),
  },
  {
    name: 'tollgate_prompt_tokens_total',
    type: 'counter',
    help: 'Prompt tokens, cached or not.',
    labels: ['model', 'provider'],
    samples: ({ usage }) => byModel(usage, ({ promptTokens }) => promptTokens),
  },
  {
    name: 'tollgate_cache_savings_usd_total',
    type: 'counter',
    help: 'Savings by prompt caches, of requests that cost less than without a cache.',
    labels: ['model', 'provider'],
    samples: ({ usage }) => byModel(usage, ({ cacheSavings }) => usd(cacheSavings)),
  },
  {
    name: 'tollgate_cache_surcharge_usd_total',
    type: 'counter',
    help: 'Additional cost of prompt caches, of requests that cost more than without a cache.',
    labels: ['model', 'provider'],
    samples: ({ usage }) => byModel(usage, ({ cacheSurcharge }) => usd(cacheSurcharge)),
  },
  {
    name: 'tollgate_estimated_usage_total',
    type: 'counter',
    help: 'Attempts whose provider reported no usage, so that it was estimated.',
    labels: [],
    samples: ({ usage }) => one(usage.models().reduce((sum, { estimated }) => sum + estimated, 0)),
  },
  {
    name: 'tollgate_unbilled_answers_total',
    type: 'counter',
    help: 'Answers of models with a price that had no tokens at all.',
    labels: [],
    samples: ({ usage }) =>
      one(usage.models().reduce((sum, { withoutUsage }) => sum + withoutUsage, 0)),
  },
  {
    name: 'tollgate_upstream_attempts_total',
    type: 'counter',
    help: 'Attempts at providers, by outcome: ok, cancelled, or the code of an error.',
    labels: ['provider', 'outcome'],
    samples: ({ usage }) => counted(usage.providers(), 'outcome', ({ attempts }) => attempts),
  },
  {
    name: 'tollgate_failovers_total',
    type: 'counter',
    help: 'Attempts after which another candidate was tried, by the code of their error.',
    labels: ['provider', 'reason'],
    samples: ({ usage }) => counted(usage.providers(), 'reason', ({ failovers }) => failovers),
  },
]

/** Samples of a figure of each model that has one. */
function byModel(usage: UsageCounts, figureOf: (counts: ModelCounts) => number): Sample[] {
  return usage.models().flatMap((counts) => {
    const { model, provider } = counts
    const value = figureOf(counts)
    return value > 0 ? [{ labels: { model, provider }, value }] : []
  })
}

function counted<Counts extends { provider: string }>(
  all: readonly Counts[],
  label: string,
  of: (counts: Counts) => Float64Array,
) {
  return all.flatMap((counts) =>
    [...of(counts)].flatMap((value, at) =>
      value > 0
        ? [{ labels: { provider: counts.provider, [label]: outcomes[at] ?? 'other' }, value }]
        : [],
    ),
  )
}
