import {
  NewOrganizationBudget,
  OrganizationBudget,
  OrganizationBudgetList,
} from './organization-schema'
import type { OrganizationBudgetStore } from './organization-store'
import { ChangedBudget } from './schema'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { route, type Route } from '../../../http/route'

const tag = 'Budgets'
const path = '/api/organizations/:id/budgets'
const params = { id: objectId('org').describe('ID of the organization') }
const budgetPath = `${path}/:budget_id` as const
const budgetParams = { ...params, budget_id: objectId('budget').describe('ID of the budget') }

const reading = account('read', { tenant: 'organization' })
const managing = account('admin', { tenant: 'organization' })

/** The budgets of organizations. Source: contract 7.4. */
export const organizationBudgetRoutes = (budgets: OrganizationBudgetStore): Route[] => [
  listBudgets(budgets),
  createBudget(budgets),
  getBudget(budgets),
  changeBudget(budgets),
  deleteBudget(budgets),
]

const listBudgets = (budgets: OrganizationBudgetStore) =>
  route({
    method: 'get',
    path,
    access: reading,
    operationId: 'listOrganizationBudgets',
    tag,
    summary: 'List budgets of an organization',
    notes:
      'Each with the booked usage of its current window. Owners and admins see all; other members see those that bind them: their own, and those that reject requests of all members or of their department. Viewers see none.',
    params,
    responses: { 200: OrganizationBudgetList },
    handler: ({ principal, params: { id } }) => budgets.list(principal, id),
  })

const createBudget = (budgets: OrganizationBudgetStore) =>
  route({
    method: 'post',
    path,
    access: managing,
    operationId: 'createOrganizationBudget',
    tag,
    summary: 'Create a budget of an organization',
    notes:
      "For owners and admins. It counts requests that the organization pays: of its pool and of its connections that it pays (`org_pays`), whose catalogue price counts. A request is rejected when any hard budget that counts it is used up: 402 `insufficient_credits` for USD, 429 `rate_limit_exceeded` for requests and tokens. With `member_id` it counts requests of one member, with `department` those of a department's members. Takes effect on every node within a second.",
    params,
    body: NewOrganizationBudget,
    examples: {
      'A month of all members': { name: 'Everyone', amount: 500, window: 'month' },
      'A day of one member': {
        name: 'Ada, per day',
        member_id: 'user_01k9z3t6c8q4v7x2m5n0p1r3s4',
        amount: 20,
        window: 'day',
        time_zone: 'Europe/Berlin',
      },
      'Tokens a week of a department': {
        name: 'Research',
        department: 'Research',
        unit: 'tokens',
        amount: 50_000_000,
        window: 'week',
        notify_percents: [80, 95],
      },
    },
    responses: { 201: OrganizationBudget },
    handler: ({ principal, params: { id }, body }) => budgets.create(principal, id, body),
  })

const getBudget = (budgets: OrganizationBudgetStore) =>
  route({
    method: 'get',
    path: budgetPath,
    access: reading,
    operationId: 'getOrganizationBudget',
    tag,
    summary: 'Get a budget of an organization',
    notes: 'As the list shows it.',
    params: budgetParams,
    responses: { 200: OrganizationBudget },
    handler: ({ principal, params: { id, budget_id: budgetId } }) =>
      budgets.get(principal, { id, budgetId }),
  })

const changeBudget = (budgets: OrganizationBudgetStore) =>
  route({
    method: 'patch',
    path: budgetPath,
    access: managing,
    operationId: 'changeOrganizationBudget',
    tag,
    summary: 'Update a budget of an organization',
    notes:
      'For owners and admins. Takes effect on every node within a second. Unit, member, department, models, providers and tags cannot be changed.',
    params: budgetParams,
    body: ChangedBudget,
    examples: {
      'Another amount': { amount: 100 },
      'Another window': { window: 'month' },
      'More until an instant': { override: { amount: 150, until: '2099-12-01T08:00:00Z' } },
    },
    responses: { 200: OrganizationBudget },
    handler: ({ principal, params: { id, budget_id: budgetId }, body }) =>
      budgets.change(principal, { id, budgetId }, body),
  })

const deleteBudget = (budgets: OrganizationBudgetStore) =>
  route({
    method: 'delete',
    path: budgetPath,
    access: managing,
    operationId: 'deleteOrganizationBudget',
    tag,
    summary: 'Delete a budget of an organization',
    notes:
      'For owners and admins. Takes effect on every node within a second. The budgets of a member are deleted with the membership.',
    params: budgetParams,
    responses: { 200: Success },
    handler: ({ principal, params: { id, budget_id: budgetId } }) =>
      budgets.delete(principal, { id, budgetId }),
  })
