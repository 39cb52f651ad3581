import { quotaTypes, type QuotaType } from '../../../url/period'

/** The source of an account's limit: its plan, no limit, or a limit of its own. */
export type Mode = 'plan' | 'none' | 'own'

/** One limit of an account in a form; `value` applies to the account's own limit. */
export interface Choice {
  mode: Mode
  value: number | string
}

/** The overrides of an account as form fields. */
export type Choices = Record<QuotaType, Choice>

function choiceOf(limits: Readonly<Record<string, unknown>>, type: QuotaType): Choice {
  const limit = limits[type]
  if (limit === undefined) return { mode: 'plan', value: '' }
  return limit === null ? { mode: 'none', value: '' } : { mode: 'own', value: Number(limit) }
}

export const toChoices = (limits: Readonly<Record<string, unknown>>): Choices => ({
  requests_per_minute: choiceOf(limits, 'requests_per_minute'),
  tokens_per_minute: choiceOf(limits, 'tokens_per_minute'),
  images_per_minute: choiceOf(limits, 'images_per_minute'),
  audio_seconds_per_minute: choiceOf(limits, 'audio_seconds_per_minute'),
  concurrent_requests: choiceOf(limits, 'concurrent_requests'),
  monthly_requests: choiceOf(limits, 'monthly_requests'),
  monthly_spend: choiceOf(limits, 'monthly_spend'),
})

/** The overrides in the shape the API expects: null removes a limit, an absent one is the plan's. */
export const toOverrides = (choices: Choices): object =>
  Object.fromEntries(
    quotaTypes.flatMap((type) => {
      const { mode, value } = choices[type]
      if (mode === 'plan') return []
      return [[type, mode === 'none' ? null : Number(value)]]
    }),
  )
