import { BillingOwner } from './schema'
import { ChangedView, NewView, SavedView, SavedViewList } from './view-schema'
import type { ViewStore } from './view-store'
import { permit, type Principal } from '../../../auth/principal'
import { account } from '../../../http/access'
import { objectId, Success } from '../../../http/answers'
import { route, type Route } from '../../../http/route'

const tag = 'Billing'
const path = '/api/billing/views'
const params = { view_id: objectId('view').describe('ID of the view') }
const writing = account('write', { tenant: 'organization' })

/** Saved views of usage, of accounts and organizations. Source: contract 6.7. */
export const viewRoutes = (views: ViewStore): Route[] => [
  listViews(views),
  createView(views),
  changeView(views),
  deleteView(views),
]

/** A view of an organization is changed with the permission `admin`, as all that its managers share. */
async function permitChange(views: ViewStore, principal: Principal, id: string): Promise<void> {
  if ((await views.organizationOf(principal, id)) !== null) permit(principal, 'admin')
}

const listViews = (views: ViewStore) =>
  route({
    method: 'get',
    path,
    access: account('read', { tenant: 'organization' }),
    operationId: 'listSavedViews',
    tag,
    summary: 'List saved views of usage',
    notes: 'The views of the account, or those that the owner and admins of an organization share.',
    query: BillingOwner,
    responses: { 200: SavedViewList },
    errors: ['resource_not_found'],
    handler: ({ principal, query }) => views.list(principal, query.organization_id),
  })

const createView = (views: ViewStore) =>
  route({
    method: 'post',
    path,
    access: writing,
    operationId: 'createSavedView',
    tag,
    summary: 'Create a saved view of usage',
    notes:
      'The parameters are those of `GET /api/billing/breakdown`. With `organization_id` its owner and admins share the view, and the permission `admin` is required. At most 100 of an account, and of an organization.',
    body: NewView,
    examples: {
      'Models of the month, compared': {
        name: 'Models',
        parameters: { period: 'this_month', group_by: 'model', compare: 'previous' },
      },
    },
    responses: { 201: SavedView },
    errors: ['resource_not_found'],
    handler({ principal, body }) {
      if (body.organization_id !== undefined) permit(principal, 'admin')
      return views.create(principal, body)
    },
  })

const changeView = (views: ViewStore) =>
  route({
    method: 'put',
    path: `${path}/:view_id`,
    access: writing,
    operationId: 'changeSavedView',
    tag,
    summary: 'Update a saved view of usage',
    notes: 'Absent fields stay as they are; `parameters` are replaced as a whole.',
    params,
    body: ChangedView,
    examples: { 'Another name': { name: 'Models, by day' } },
    responses: { 200: SavedView },
    async handler({ principal, params: { view_id: id }, body }) {
      await permitChange(views, principal, id)
      return views.change(principal, id, body)
    },
  })

const deleteView = (views: ViewStore) =>
  route({
    method: 'delete',
    path: `${path}/:view_id`,
    access: writing,
    operationId: 'deleteSavedView',
    tag,
    summary: 'Delete a saved view of usage',
    params,
    responses: { 200: Success },
    async handler({ principal, params: { view_id: id } }) {
      await permitChange(views, principal, id)
      return views.delete(principal, id)
    },
  })
