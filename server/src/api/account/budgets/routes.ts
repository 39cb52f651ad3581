import { BudgetList } from './organization-schema'
import { Budget, ChangedBudget, NewBudget } from './schema'
import type { BudgetStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { route, type Route } from '../../../http/route'

const tag = 'Budgets'
const path = '/api/account/budgets'
const params = { budget_id: objectId('budget').describe('ID of the budget') }

/** The budgets of the calling account and its keys. Source: contract 6.14. */
export const budgetRoutes = (budgets: BudgetStore): Route[] => [
  listBudgets(budgets),
  createBudget(budgets),
  getBudget(budgets),
  changeBudget(budgets),
  deleteBudget(budgets),
]

const listBudgets = (budgets: BudgetStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listBudgets',
    tag,
    summary: 'List budgets',
    notes:
      'The budgets of the account and of its keys, and those of its organizations that bind it, each with the booked usage of its current window. Usage is booked some seconds after a request ends.',
    responses: { 200: BudgetList },
    handler: ({ principal }) => budgets.list(principal),
  })

const createBudget = (budgets: BudgetStore) =>
  route({
    method: 'post',
    path,
    access: account('admin'),
    operationId: 'createBudget',
    tag,
    summary: 'Create a budget',
    notes:
      'A request is rejected when any hard budget of its account or its key that counts it is used up: 402 `insufficient_credits` for USD, 429 `rate_limit_exceeded` for requests and tokens. With `models`, `providers` or `tags` a budget counts only requests that call such a model and have such tags. A soft budget rejects nothing. Both notify the account at their percents. Earlier usage of the current window counts, but with `tags` only requests since its creation. Takes effect on every node within a second.',
    body: NewBudget,
    examples: {
      'A day of the account': {
        name: 'Daily',
        amount: 20,
        window: 'day',
        time_zone: 'Europe/Berlin',
      },
      'A week of one key': {
        name: 'Search, per week',
        key_id: 'key_01k9z3t6c8q4v7x2m5n0p1r3s4',
        amount: 50,
        window: 'week',
        first_weekday: 'sunday',
      },
      'A month that only notifies': {
        name: 'Team',
        amount: 500,
        window: 'month',
        enforcement: 'soft',
        notify_percents: [50, 80, 100, 120],
      },
      'A month of the models of one provider': {
        name: 'OpenAI',
        amount: 200,
        window: 'month',
        providers: ['openai'],
      },
      'Tokens a day of requests with a tag': {
        name: 'Batches',
        unit: 'tokens',
        amount: 5_000_000,
        window: 'day',
        tags: ['batch'],
      },
      'Requests an hour': { name: 'Hourly', unit: 'requests', amount: 1000, window: 'hour' },
    },
    responses: { 201: Budget },
    handler: ({ principal, body }) => budgets.create(principal, body),
  })

const getBudget = (budgets: BudgetStore) =>
  route({
    method: 'get',
    path: `${path}/:budget_id`,
    access: account('read'),
    operationId: 'getBudget',
    tag,
    summary: 'Get a budget',
    params,
    responses: { 200: Budget },
    handler: ({ principal, params: { budget_id: id } }) => budgets.get(principal, id),
  })

const changeBudget = (budgets: BudgetStore) =>
  route({
    method: 'patch',
    path: `${path}/:budget_id`,
    access: account('admin'),
    operationId: 'changeBudget',
    tag,
    summary: 'Update a budget',
    notes:
      'Takes effect on every node within a second. Another window, time zone or weekday counts the earlier usage of that window. Unit, key, models, providers and tags cannot be changed. A key with limits of its own cannot change budgets.',
    params,
    body: ChangedBudget,
    examples: {
      'Another amount': { amount: 100 },
      'Another window': { window: 'month' },
      'Other percents': { notify_percents: [80, 95] },
      'More until an instant': { override: { amount: 150, until: '2099-12-01T08:00:00Z' } },
      'Its end at once': { override: null },
    },
    responses: { 200: Budget },
    handler: ({ principal, params: { budget_id: id }, body }) =>
      budgets.change(principal, id, body),
  })

const deleteBudget = (budgets: BudgetStore) =>
  route({
    method: 'delete',
    path: `${path}/:budget_id`,
    access: account('admin'),
    operationId: 'deleteBudget',
    tag,
    summary: 'Delete a budget',
    notes: 'Takes effect on every node within a second. The budgets of a deleted key are deleted.',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { budget_id: id } }) => budgets.delete(principal, id),
  })
