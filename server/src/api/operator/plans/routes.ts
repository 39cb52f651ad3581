import { ChangedPlan, NewPlan, Plan, PlanFilter, PlanList } from './schema'
import type { PlanStore } from './store'
import { operator } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Plans'
const path = '/api/admin/plans'
const params = { id: objectId('plan').describe('ID of the plan') }

/** Plans, for the operator. Source: contract 3.2, 9.2. */
export const planRoutes = (plans: PlanStore): Route[] => [
  listPlans(plans),
  createPlan(plans),
  changePlan(plans),
  deletePlan(plans),
]

const listPlans = (plans: PlanStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['support', 'finance', 'read_only'] }),
    operationId: 'listPlans',
    tag,
    summary: 'List plans',
    notes: 'Newest first.',
    query: PlanFilter.extend(pageFields),
    responses: { 200: PlanList },
    handler: ({ query }) => plans.list(toPage(query, `plans ${query.search ?? ''}`), query.search),
  })

const createPlan = (plans: PlanStore) =>
  route({
    method: 'post',
    path,
    access: operator({ roles: ['finance'] }),
    operationId: 'createPlan',
    tag,
    summary: 'Create a plan',
    body: NewPlan,
    examples: { 'With a rate limit': { name: 'Team', requests_per_minute: 600 } },
    responses: { 201: Plan },
    handler: ({ body }) => plans.create(body),
  })

const changePlan = (plans: PlanStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access: operator({ roles: ['finance'] }),
    operationId: 'changePlan',
    tag,
    summary: 'Update a plan',
    notes: 'Takes effect for every account that has the plan.',
    params,
    body: ChangedPlan,
    examples: { 'No rate limit': { requests_per_minute: null } },
    responses: { 200: Plan },
    handler: ({ params: { id }, body }) => plans.change(id, body),
  })

const deletePlan = (plans: PlanStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access: operator({ roles: ['finance'] }),
    operationId: 'deletePlan',
    tag,
    summary: 'Delete a plan',
    notes: 'Rejected for the default plan and for plans that accounts have.',
    params,
    responses: { 200: Success },
    handler: ({ params: { id } }) => plans.delete(id),
  })
