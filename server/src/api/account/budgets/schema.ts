import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { line } from '../../../http/fields'
import { model, provider } from '../../../keys/schema'
import { budgetUnits, enforcements, type BudgetUnit } from '../../../platform/db/budget-schema'
import { findTimeZone } from '../../../platform/local-clock'
import { windowUnits } from '../../../platform/time-window'
import { maxInteger } from '../../../platform/integer'
import { customIssue } from '../../../wire/field-error'
import { TagList } from '../../../wire/tags'

/** The most budgets of an account, those of its keys included. */
export const maxBudgets = 100

/** In the order of their numbers, from 1. */
export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const

const timeZone = line(64)
  .transform((name) => findTimeZone(name) ?? '')
  .refine((name) => name !== '', {
    params: { issue: 'unknown_value' },
    message: 'must be a time zone of the IANA database, such as Europe/Berlin.',
  })

const maxUsd = 1e9
const decimals = 2
const maxTokens = 1e15
const maxTimeMs = Date.UTC(2100, 0)
const amount = z.number().min(0).max(maxTokens)
const window = z.enum(windowUnits)
const firstWeekday = z.enum(weekdays)

const enforcement = z.enum(enforcements)

/** The most percents of a budget. */
const maxPercents = 10
/** A hard budget rejects requests that would exceed it: only soft ones use more than all. */
const maxPercentOf = { hard: 100, soft: 1000 } as const
/** Ascending, each once. */
const notifyPercents = z
  .array(z.int().min(1).max(maxPercentOf.soft))
  .max(maxPercents)
  .transform((percents) => [...new Set(percents)].toSorted((one, other) => one - other))

/** The most models, or providers, of a budget: they are cached with each key. */
const maxListed = 20
const listOf = (name: z.ZodType<string>) =>
  z
    .array(name)
    .min(1)
    .max(maxListed)
    .nullish()
    .transform((names) => (names ? [...new Set(names)] : null))

const enforcementText =
  'hard: requests are rejected when the budget is used up; soft: the budget only notifies'
const percentsText =
  'Percents of the amount at which the budget notifies, once in each window; above 100 for soft budgets only'
const amountText = 'USD with at most two decimals, or a number of requests or tokens'
const modelsText =
  'IDs of models, or `<provider>/*`: only requests that call one of them count. Null for all'
const providersText =
  'Providers as model IDs begin, such as `openai`: only requests that call a model of one of them count. Null for all'
const tagsText =
  'Tags: only requests with all of them count, those of their key included. Null for all'
const overrideText =
  'Amount that replaces `amount` for a time; it ends by itself. A new one replaces the one before, null ends it at once'
const inForceText =
  'Amount that limits now: that of the override while it is in force, else `amount`'
const zoneText = 'IANA name of the time zone whose calendar and clock the windows follow'
const weekdayText = 'Day with which weeks begin; without effect for other windows'

/** Finds a conflict between the fields of a budget. */
export function findBudgetConflict(budget: {
  unit: BudgetUnit
  amount: number
  window: (typeof windowUnits)[number]
  enforcement: (typeof enforcements)[number]
  notify_percents: readonly number[]
}) {
  const amountFault = findAmountFault(budget)
  if (amountFault !== undefined) return customIssue('out_of_range', amountFault, ['amount'])
  const maxPercent = maxPercentOf[budget.enforcement]
  if ((budget.notify_percents.at(-1) ?? 0) > maxPercent) {
    const message = `must be at most ${maxPercent} percent: only a soft budget can use more.`
    return customIssue('out_of_range', message, ['notify_percents'])
  }
  if (budget.unit === 'usd' || budget.window !== 'total' || budget.enforcement === 'soft')
    return undefined
  // Its refusal is a rate limit, which names when to retry.
  return customIssue('conflict', 'must end: a total that rejects counts USD only.', ['window'])
}

/** Finds the fault of an override of a budget in a unit. `from` is now where it has none. */
export function findOverrideConflict(
  unit: BudgetUnit,
  { amount: value, from, until }: { amount: number; from: Date; until: Date },
  nowMs: number,
) {
  const amountFault = findAmountFault({ unit, amount: value })
  if (amountFault !== undefined)
    return customIssue('out_of_range', amountFault, ['override.amount'])
  const untilMs = until.getTime()
  if (untilMs > nowMs && untilMs > from.getTime() && untilMs < maxTimeMs) return undefined
  const message =
    'must be after the time from which it is in force, later than now, and before 2100.'
  return customIssue('out_of_range', message, ['override.until'])
}

function findAmountFault({ unit, amount: value }: { unit: BudgetUnit; amount: number }) {
  if (unit === 'tokens') return Number.isInteger(value) ? undefined : 'must be a whole number.'
  if (unit === 'requests') {
    const isCount = Number.isInteger(value) && value <= maxInteger
    return isCount ? undefined : `must be a whole number of requests, at most ${maxInteger}.`
  }
  if (value <= maxUsd && Number(value.toFixed(decimals)) === value) return undefined
  return `must be at most ${maxUsd} USD, with at most ${decimals} decimals.`
}

/** The fields of a new budget, beside what it applies to. */
export const newTerms = {
  unit: z
    .enum(budgetUnits)
    .nullish()
    .transform((unit) => unit ?? 'usd'),
  amount: amount.describe(amountText),
  models: listOf(model).describe(modelsText),
  providers: listOf(provider).describe(providersText),
  tags: TagList.pipe(z.array(z.string()).min(1))
    .nullish()
    .transform((list) => list ?? null)
    .describe(tagsText),
  window,
  time_zone: timeZone
    .nullish()
    .transform((name) => name ?? 'UTC')
    .describe(zoneText),
  first_weekday: firstWeekday
    .nullish()
    .transform((weekday) => weekday ?? 'monday')
    .describe(weekdayText),
  enforcement: enforcement
    .nullish()
    .transform((value) => value ?? 'hard')
    .describe(enforcementText),
  notify_percents: notifyPercents
    .nullish()
    .transform((percents) => percents ?? [])
    .describe(percentsText),
}

type Conflicting = Parameters<typeof findBudgetConflict>[0]

/** Adds the conflict between the fields of a new budget to its issues. */
export function refuseConflict(budget: Conflicting, ctx: z.RefinementCtx): void {
  const conflict = findBudgetConflict(budget)
  if (conflict) ctx.addIssue(conflict)
}

/** A new budget. Source: contract 6.14. */
export const NewBudget = z
  .object({
    name: line(100),
    key_id: objectId('key')
      .nullish()
      .transform((id) => id ?? null)
      .describe('ID of the key that it limits; null for the whole account'),
    ...newTerms,
  })
  .superRefine(refuseConflict)
  .meta({ ref: 'NewBudget' })
export type NewBudget = z.output<typeof NewBudget>

/** An amount that replaces that of a budget for a time. */
const NewOverride = z
  .object({
    amount: amount.describe(amountText),
    from: z.iso
      .datetime({ offset: true })
      .nullish()
      .describe('Time from which it is in force; now by default'),
    until: z.iso
      .datetime({ offset: true })
      .describe('Time at which it ends, exclusive: after `from`, later than now, and before 2100'),
  })
  .meta({ ref: 'NewBudgetOverride' })
export type NewOverride = z.output<typeof NewOverride>

/** The override of a budget that is in force or begins later. */
const Override = z
  .object({
    amount: z.number(),
    from: z.iso.datetime(),
    until: z.iso.datetime().describe('Exclusive'),
    created_by: z.string().describe('ID of the account that set it'),
  })
  .meta({ ref: 'BudgetOverride' })

export const ChangedBudget = z
  .object({
    name: line(100).optional(),
    amount: amount.optional().describe(amountText),
    window: window.optional(),
    time_zone: timeZone.optional().describe(zoneText),
    first_weekday: firstWeekday.optional().describe(weekdayText),
    enforcement: enforcement.optional().describe(enforcementText),
    notify_percents: notifyPercents.optional().describe(percentsText),
    override: NewOverride.nullable().optional().describe(overrideText),
  })
  .meta({ ref: 'ChangedBudget' })
export type ChangedBudget = z.output<typeof ChangedBudget>

/** The fields of a budget with its status, beside what it applies to. */
export const shownTerms = {
  unit: z.enum(budgetUnits),
  amount: z.number(),
  amount_in_force: z.number().describe(inForceText),
  override: Override.nullable().describe(`${overrideText}. Null for none`),
  models: z.array(z.string()).nullable().describe(modelsText),
  providers: z.array(z.string()).nullable().describe(providersText),
  tags: z.array(z.string()).nullable().describe(tagsText),
  window,
  time_zone: z.string().meta({ examples: ['Europe/Berlin'] }),
  first_weekday: firstWeekday,
  enforcement,
  notify_percents: z.array(z.int()).describe(`${percentsText}; ascending`),
  notified_percent: z
    .int()
    .nullable()
    .describe('Highest percent at which it has notified in the current window'),
  used: z.number().describe('Booked usage of the current window, in the unit of the budget'),
  remaining: z.number().describe('Not below 0'),
  window_start: z.iso.datetime().nullable().describe('Null for a total'),
  window_end: z.iso
    .datetime()
    .nullable()
    .describe('Time at which the budget resets; null for a total, which does not'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}

/** A budget with its status. */
export const Budget = z
  .object({
    id: objectId('budget'),
    name: z.string().meta({ examples: ['Search, per week'] }),
    key_id: objectId('key').nullable().describe('Null for the whole account'),
    ...shownTerms,
  })
  .meta({ ref: 'Budget' })
