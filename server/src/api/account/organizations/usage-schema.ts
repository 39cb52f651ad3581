import { z } from 'zod'
import { objectId } from '../../../http/answers'

const dayMs = 86_400_000

const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text))
const date = z.iso.date().transform((text) => new Date(text))

/** Exclusive; a date counts to the end of its day. */
const end = z.union([moment, date.transform((midnight) => new Date(midnight.getTime() + dayMs))])

/** Source: contract 1.5, 7.4. */
export const UsageFilters = z.object({
  group_by: z
    .enum(['user', 'model', 'department'])
    .default('user')
    .describe('Grouping of the sums'),
  start_date: z
    .union([moment, date])
    .optional()
    .describe('Start of the period, rounded down to whole days in UTC'),
  end_date: end.optional().describe('End of the period; a date counts to the end of its day'),
})
export type UsageFilters = z.output<typeof UsageFilters>

const used = {
  requests: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd: z.number().describe('At catalogue prices'),
  charged_usd: z.number().describe('Charged to the organization or to its members'),
  counted_usd: z.number().describe('Counted toward the spending limits of the organization'),
  avg_latency_ms: z.int().nullable(),
}

export const OrganizationUsage = z
  .object({
    period: z
      .object({ start: z.iso.datetime(), end: z.iso.datetime() })
      .describe('Whole days in UTC'),
    usage: z.union([
      z.object({
        by_user: z.array(
          z.object({
            user_id: objectId('user'),
            email: z
              .string()
              .nullable()
              .describe('Null unless the caller is owner, admin or this member'),
            display_name: z.string().nullable(),
            ...used,
          }),
        ),
      }),
      z.object({ by_model: z.array(z.object({ model: z.string(), ...used })) }),
      z.object({
        by_department: z.array(z.object({ department: z.string().nullable(), ...used })),
      }),
    ]),
  })
  .meta({ ref: 'OrganizationUsage' })
