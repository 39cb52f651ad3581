import type { components } from '../../client/schema'

type Schemas = components['schemas']

/** The time of the sample: its figures are those of the thirty days before. */
export const sampleTime = new Date('2026-11-20T16:40:00Z')

const dayMs = 86_400_000
const days = 30
const period = {
  start: new Date(sampleTime.getTime() - days * dayMs).toISOString(),
  end: sampleTime.toISOString(),
}

/** Requests, tokens in and out of each, and USD per 1,000,000 of them. */
const models = [
  {
    model: 'anthropic/claude-sonnet-4-5',
    requests: 18_412,
    input: 3900,
    output: 620,
    usd: [3, 15],
  },
  { model: 'openai/gpt-5', requests: 14_205, input: 3100, output: 840, usd: [1.25, 10] },
  { model: 'google/gemini-2.5-pro', requests: 9871, input: 5200, output: 710, usd: [1.25, 10] },
  { model: 'anthropic/claude-haiku-4-5', requests: 21_930, input: 1800, output: 310, usd: [1, 5] },
  { model: 'openai/gpt-5-mini', requests: 34_118, input: 1500, output: 290, usd: [0.25, 2] },
  { model: 'google/gemini-2.5-flash', requests: 12_640, input: 2300, output: 260, usd: [0.3, 2.5] },
] as const

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

const byModel = models.map(({ model, requests, input, output, usd: [inputUsd, outputUsd] }) => ({
  model,
  provider: model.slice(0, model.indexOf('/')),
  requests,
  input_tokens: requests * input,
  output_tokens: requests * output,
  cost: (requests * (input * inputUsd + output * outputUsd)) / 1_000_000,
}))

const requests = sum(byModel.map((one) => one.requests))
const inputTokens = sum(byModel.map((one) => one.input_tokens))
const outputTokens = sum(byModel.map((one) => one.output_tokens))
const cost = sum(byModel.map((one) => one.cost))

/** Working days grow through the month, weekends are calm. */
const weights = Array.from({ length: days }, (_none, day) => {
  const weekday = new Date(Date.parse(period.start) + (day + 1) * dayMs).getUTCDay()
  const isWeekend = weekday === 0 || weekday === 6
  return (isWeekend ? 28 : 84) + day + ((day * 37) % 17)
})
const share = (day: number) => (weights[day] ?? 0) / sum(weights)

const timeSeries = weights.map((_weight, day) => ({
  timestamp: new Date(Date.parse('2026-10-22') + day * dayMs).toISOString(),
  requests: Math.round(requests * share(day)),
  tokens: Math.round((inputTokens + outputTokens) * share(day)),
  cost: cost * share(day),
  usage_cost: cost * share(day),
}))

const balance: Schemas['Balance'] = {
  balance: 862.41,
  held: 0.38,
  available_balance: 862.03,
  currency: 'USD',
  minimum_required: 0,
  warning_threshold: 50,
  low_balance: false,
  is_charged: true,
  funding_source: 'personal',
  organization_id: null,
  payment_method_required: false,
  updated_at: period.end,
}

const projections = {
  next_7_days: (cost * 7) / days,
  next_30_days: cost * 1.06,
  daily_average: cost / days,
}

const metrics: Schemas['BillingMetrics'] = {
  period,
  summary: {
    total_requests: requests,
    success_rate: 99.62,
    total_tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_cost: cost,
    usage_cost: cost,
    avg_latency_ms: 1840,
    models_used: byModel.length,
  },
  by_payer: [{ payer: 'personal', organization_id: null, payer_name: null, cost }],
  by_model: byModel.map((one) => ({
    ...one,
    usage_cost: one.cost,
    percentage: (100 * one.cost) / cost,
    usage_percentage: (100 * one.cost) / cost,
  })),
  time_series: timeSeries,
  projections: { ...projections, usage: projections },
}

const failed = 423
const cancelled = 61

const stats: Schemas['RequestLogStats'] = {
  period,
  total_requests: requests,
  successful_requests: requests - failed - cancelled,
  failed_requests: failed,
  cancelled_requests: cancelled,
  success_rate: 99.62,
  total_tokens: inputTokens + outputTokens,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  cached_tokens: Math.round(inputTokens * 0.418),
  cache_write_tokens: 0,
  cache_hit_rate: 41.8,
  cache_savings: 187.26,
  total_cost: cost,
  avg_latency_ms: 1840,
  p50_latency_ms: 1420,
  p95_latency_ms: 5310,
  p50_time_to_first_token_ms: 384,
  p95_time_to_first_token_ms: 962,
  avg_overhead_ms: 0.7,
  p95_overhead_ms: 2,
  by_model: [],
  by_provider: [],
  by_key: [],
  by_payer: [],
  by_error: [],
}

const quota: Schemas['QuotaStatus'] = {
  tier: 'team',
  period,
  quotas: [],
  organizations: [],
  usage_cost: cost,
  by_payer: metrics.by_payer,
  updated_at: period.end,
}

const [latestModel] = byModel

/** The responses of the API to the overview page, by path. */
export const overviewSample: Readonly<Record<string, object>> = {
  '/api/auth/get-session': {
    user: { id: 'user_ada', name: 'Ada Lovelace', email: 'ada@example.com' },
    session: { id: 'session', token: '', createdAt: period.start, expiresAt: period.end },
  },
  '/api/account/notifications': { notifications: [], unread_count: 2 },
  '/api/billing/balance': balance,
  '/api/billing/metrics': metrics,
  '/api/user/quota/status': quota,
  '/api/account/request-logs/stats': stats,
  '/api/account/request-logs': { logs: [latestModel] },
}
