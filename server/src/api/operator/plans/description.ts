import { ChangedPlan, NewPlan, Plan, PlanList } from './schema'
import { Done, operatorRoute, paging } from '../../../http/documentation'

const tag = 'Plans'
const path = ['id'] as const

export const described = {
  list: operatorRoute({
    operationId: 'listPlans',
    summary: 'All plans, newest first',
    tag,
    query: ['search', ...paging],
    answer: PlanList,
  }),
  create: operatorRoute({
    operationId: 'createPlan',
    summary: 'Make a plan',
    tag,
    status: 201,
    answer: Plan,
    body: ['NewPlan', NewPlan, { 'With a rate limit': { name: 'Team', requests_per_minute: 600 } }],
  }),
  change: operatorRoute({
    operationId: 'changePlan',
    summary: 'Change a plan, for every account that has it',
    tag,
    path,
    answer: Plan,
    body: ['ChangedPlan', ChangedPlan, { 'No rate limit': { requests_per_minute: null } }],
  }),
  delete: operatorRoute({
    operationId: 'deletePlan',
    summary: 'Delete a plan that no account has',
    tag,
    path,
    answer: Done,
  }),
}
