import { z } from 'zod'
import { Budget, newTerms, refuseConflict, shownTerms } from './schema'
import { objectId } from '../../../http/answers'
import { line } from '../../../http/fields'
import { customIssue } from '../../../wire/field-error'

const memberText =
  "ID of the account of the member whose requests alone count; null for all members'"
const departmentText =
  "Department whose members' requests alone count; null for all. Only requests since the creation of the budget count"

/** A new budget of an organization. Source: contract 7.4. */
export const NewOrganizationBudget = z
  .object({
    name: line(100),
    member_id: objectId('user')
      .nullish()
      .transform((id) => id ?? null)
      .describe(memberText),
    department: line(100)
      .nullish()
      .transform((name) => name ?? null)
      .describe(departmentText),
    ...newTerms,
  })
  .superRefine((budget, ctx) => {
    refuseConflict(budget, ctx)
    if (budget.member_id === null || budget.department === null) return
    ctx.addIssue(customIssue('conflict', 'cannot be set with member_id.', ['department']))
  })
  .meta({ ref: 'NewOrganizationBudget' })
export type NewOrganizationBudget = z.output<typeof NewOrganizationBudget>

/** A budget of an organization with its status. */
export const OrganizationBudget = z
  .object({
    id: objectId('budget'),
    organization_id: objectId('org'),
    name: z.string().meta({ examples: ['Everyone, per month'] }),
    member_id: objectId('user').nullable().describe(memberText),
    department: z.string().nullable().describe(departmentText),
    ...shownTerms,
  })
  .meta({ ref: 'OrganizationBudget' })

export const OrganizationBudgetList = z
  .object({ budgets: z.array(OrganizationBudget).describe('Newest first') })
  .meta({ ref: 'OrganizationBudgetList' })

export const BudgetList = z
  .object({
    budgets: z.array(Budget).describe('Newest first'),
    organization_budgets: z
      .array(OrganizationBudget)
      .describe('Budgets of its organizations that bind the account, newest first'),
  })
  .meta({ ref: 'BudgetList' })
