import { z } from 'zod'
import { granularities, organization_id } from './schema'
import { TagFilter } from '../../../wire/tags'

/** The groupings of usage: `member` and `department` are of organizations, `key` and `tag` are of accounts. */
export const accountDimensions = [
  'model',
  'provider',
  'key',
  'tag',
  'member',
  'department',
] as const
export const installationDimensions = ['model', 'provider', 'account', 'tag'] as const
export type Dimension = (typeof accountDimensions)[number] | (typeof installationDimensions)[number]

const name = z.string().max(300)
const largestLimit = 1000

const filterFields = {
  start_date: z.iso.date().describe('First day, in `time_zone`'),
  end_date: z.iso.date().describe('Last day, in `time_zone`, which is included'),
  time_zone: z
    .string()
    .max(60)
    .default('UTC')
    .describe(
      'IANA time zone of days, weeks and months, also one of half hours or quarters of an hour',
    )
    .meta({ examples: ['Europe/Berlin'] }),
  granularity: z
    .enum(granularities)
    .optional()
    .describe('The interval of `time_series`, which is empty without it'),
  compare: z
    .enum(['previous'])
    .optional()
    .describe('Compares with as many days before: `previous` and `change` beside each sum'),
  model: name.optional().describe('Only this model'),
  provider: name.optional().describe('Only models of this provider'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(largestLimit)
    .default(100)
    .describe(
      'The number of groups, those with the highest cost; all others are summed in `other`',
    ),
}

const secondGroup = 'A second grouping: a group is a pair of both'

const tag = TagFilter.optional().describe('Only requests with this tag, or with all of `a, b`')

export const UsageBreakdownFilter = z.strictObject({
  organization_id,
  group_by: z
    .enum(accountDimensions)
    .default('model')
    .describe('`member` and `department` require `organization_id`, `key` and `tag` its absence'),
  split_by: z.enum(accountDimensions).optional().describe(secondGroup),
  key_id: name.optional().describe('Only requests with this API key'),
  member_id: name.optional().describe('Only requests of this member of the organization'),
  tag,
  ...filterFields,
})
export type UsageBreakdownFilter = z.output<typeof UsageBreakdownFilter>

export const InstallationBreakdownFilter = z.strictObject({
  group_by: z.enum(installationDimensions).default('model').describe('The first grouping'),
  split_by: z.enum(installationDimensions).optional().describe(secondGroup),
  user_id: name.optional().describe('Only requests of this account'),
  tag,
  ...filterFields,
})
export type InstallationBreakdownFilter = z.output<typeof InstallationBreakdownFilter>

/** The part of a filter that does not depend on whose usage is read. */
export type BreakdownFilter = Pick<
  UsageBreakdownFilter,
  | 'start_date'
  | 'end_date'
  | 'time_zone'
  | 'granularity'
  | 'compare'
  | 'model'
  | 'provider'
  | 'limit'
  | 'tag'
> & { group_by: Dimension; split_by?: Dimension | undefined }

const time = z.iso.datetime()

/** The figures of usage that accounts and organizations see. */
export const usageFigures = {
  requests: z.int(),
  failed_requests: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost: z.number().describe('USD that the account paid itself'),
  usage_cost: z.number().describe('USD that the requests cost, whichever account paid'),
}

const change = z.number().nullable().describe('Percent, with two decimals; null of nothing before')

const toCompared = <Figures extends z.ZodRawShape>(figures: Figures) => ({
  ...figures,
  previous: z.object(figures).nullable().describe('In the days before; null without `compare`'),
  change: z.object({ requests: change, tokens: change, usage_cost: change }).nullable(),
})

const group = z
  .object({ id: z.string(), name: z.string().nullable() })
  .describe(
    'The model, the provider or the department; all tags of a request, `a, b`; of a key, a member or an account the ID and the name, null where it was deleted. An empty ID stands for none',
  )

/** Builds the answer of usage by one or two groupings and over time, with the figures of each. */
export const toBreakdown = <Figures extends z.ZodRawShape>(figures: Figures) => {
  const compared = toCompared(figures)
  return z.object({
    period: z.object({
      start: time,
      end: time.describe('Exclusive'),
      time_zone: z.string(),
    }),
    previous_period: z
      .object({ start: time, end: time })
      .nullable()
      .describe('The days before; null without `compare`'),
    total: z.object(compared),
    groups: z
      .array(z.object({ group, split: group.nullable(), ...compared }))
      .describe('By `usage_cost`, highest first'),
    other: z
      .object({ groups: z.int().describe('The number of groups'), ...compared })
      .nullable()
      .describe(
        'The groups beyond `limit`, and the earlier usage of groups without usage now; null without any',
      ),
    intervals: z
      .array(time)
      .describe('The starts of all intervals; the first begins with the period'),
    time_series: z
      .array(
        z.object({
          interval: z.int().describe('Index in `intervals`'),
          group: z.int().nullable().describe('Index in `groups`; null for `other`'),
          ...figures,
        }),
      )
      .describe('Ascending by interval and group; without pairs that have no requests'),
  })
}

/** Usage by one or two groupings, and over time. */
export const UsageBreakdown = toBreakdown(usageFigures).meta({ ref: 'UsageBreakdown' })
export type UsageBreakdown = z.output<typeof UsageBreakdown>

interface GroupName {
  id: string
  name: string | null
}

/** Figures beside those of the days before, and their change in percent; null where they are not compared. */
export type Compared<Figures> = Figures & {
  previous: Figures | null
  change: Record<'requests' | 'tokens' | 'usage_cost', number | null> | null
}

/** Usage by one or two groupings with the figures of its readers. */
export interface Breakdown<Figures> {
  period: { start: string; end: string; time_zone: string }
  previous_period: { start: string; end: string } | null
  total: Compared<Figures>
  groups: (Compared<Figures> & { group: GroupName; split: GroupName | null })[]
  other: (Compared<Figures> & { groups: number }) | null
  intervals: string[]
  time_series: (Figures & { interval: number; group: number | null })[]
}
