import { z } from 'zod'
import { accountDimensions } from './breakdown-schema'
import { granularities, organization_id } from './schema'
import { objectId } from '../../../http/answers'
import { line } from '../../../http/fields'
import { TagFilter } from '../../../wire/tags'

export const maxViews = 100

const periods = ['today', 'last_7_days', 'last_30_days', 'this_month', 'last_month'] as const
const name = z.string().max(300)

/** The content of a view: parameters of `GET /api/billing/breakdown`, and how the dashboard shows them. */
const Parameters = z
  .strictObject({
    period: z
      .enum(periods)
      .optional()
      .describe('Days that follow the calendar, instead of `start_date` and `end_date`'),
    start_date: z.iso.date().optional(),
    end_date: z.iso.date().optional(),
    group_by: z.enum(accountDimensions).optional(),
    split_by: z.enum(accountDimensions).optional(),
    granularity: z.enum(granularities).optional(),
    compare: z.enum(['previous']).optional(),
    measure: z.enum(['cost', 'requests', 'tokens']).optional().describe('The figure of the chart'),
    model: name.optional(),
    provider: name.optional(),
    key_id: name.optional(),
    member_id: name.optional(),
    tag: TagFilter.optional(),
  })
  .superRefine(({ period, start_date: start, end_date: end }, ctx) => {
    const path = ['start_date']
    const params = { issue: 'conflict' }
    if ((start === undefined) !== (end === undefined)) {
      const message = 'start_date and end_date: set both, or none.'
      ctx.addIssue({ code: 'custom', path, params, message })
    } else if (period !== undefined && start !== undefined) {
      const message = 'start_date: cannot be combined with period.'
      ctx.addIssue({ code: 'custom', path, params, message })
    }
  })
  .meta({ ref: 'SavedViewParameters' })

export const NewView = z
  .object({ organization_id, name: line(100), parameters: Parameters })
  .meta({ ref: 'NewSavedView' })
export type NewView = z.output<typeof NewView>

export const ChangedView = z
  .object({ name: line(100), parameters: Parameters })
  .partial()
  .meta({ ref: 'ChangedSavedView' })
export type ChangedView = z.output<typeof ChangedView>

export const SavedView = z
  .object({
    id: objectId('view'),
    organization_id: z
      .string()
      .nullable()
      .describe('The organization whose owner and admins share it; null for one of the account'),
    name: z.string(),
    parameters: Parameters,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'SavedView' })
export type SavedView = z.output<typeof SavedView>

export const SavedViewList = z.object({ views: z.array(SavedView).describe('By name') })
