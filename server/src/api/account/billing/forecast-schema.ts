import { z } from 'zod'
import { organization_id } from './schema'
import { time_zone } from './statement-schema'

export const ForecastFilter = z.strictObject({ organization_id, time_zone })
export type ForecastFilter = z.output<typeof ForecastFilter>

/** A forecast of the spend of a balance this month, and of its end. */
export const SpendForecast = z
  .object({
    organization_id: z.string().nullable(),
    currency: z.literal('USD'),
    period: z.object({
      start: z.iso.datetime().describe('The first moment of this month in `time_zone`'),
      end: z.iso.datetime().describe('Exclusive'),
      time_zone: z.string(),
    }),
    spent: z.number().describe('USD that the balance paid this month until now'),
    forecast: z
      .object({
        since: z.iso.datetime().describe('The start of the hours whose pace is continued'),
        until: z.iso.datetime().describe('Their end, the last full hour'),
        days: z.int().describe('The number of days in between'),
        daily_average: z.number().describe('USD'),
        month_total: z.number().describe('USD of the whole month at that pace'),
        lasts_until: z.iso
          .datetime()
          .nullable()
          .describe('The time at which the balance is spent at that pace; null beyond a year'),
      })
      .nullable()
      .describe('Null where the balance paid on fewer than 3 of the last 7 days'),
  })
  .meta({ ref: 'SpendForecast' })
export type SpendForecast = z.input<typeof SpendForecast>
