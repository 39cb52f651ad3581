import { z } from 'zod'

const dayMs = 86_400_000

const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text))
const date = z.iso.date().transform((text) => new Date(text))

/** Exclusive; a date counts to the end of its day. */
const end = z.union([moment, date.transform((midnight) => new Date(midnight.getTime() + dayMs))])

/** Source: contract 1.5, 7.4. */
export const UsageFilters = z.object({
  group_by: z.enum(['user', 'model', 'department']).default('user'),
  start_date: z.union([moment, date]).optional(),
  end_date: end.optional(),
})
export type UsageFilters = z.output<typeof UsageFilters>

const used = {
  requests: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd: z.number().describe('At catalogue prices, whoever paid.'),
  avg_latency_ms: z.int().nullable(),
}

export const OrganizationUsage = z
  .object({
    period: z
      .object({ start: z.iso.datetime(), end: z.iso.datetime() })
      .describe('Whole days, UTC.'),
    usage: z.union([
      z.object({
        by_user: z.array(
          z.object({
            user_id: z.string(),
            email: z.string().nullable().describe('For owners, admins and oneself.'),
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
