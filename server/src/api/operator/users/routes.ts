import { userKeyRoutes } from './key-routes'
import {
  ChangedUser,
  NewUser,
  SignInLink,
  Suspension,
  User,
  UserExportLine,
  UserFilter,
  UserList,
} from './schema'
import type { UserStore } from './store'
import { operator } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Users'
const access = operator()
const path = '/api/admin/users'
const params = { id: objectId('user').describe('ID of the account') }

/** Accounts and their keys, for the operator. Source: contract 9.2. */
export const userRoutes = (users: UserStore): Route[] => [
  listUsers(users),
  createUser(users),
  getUser(users),
  changeUser(users),
  eraseUser(users),
  exportUser(users),
  suspendUser(users),
  reinstateUser(users),
  createUserLink(users),
  ...userKeyRoutes(users.keys),
]

const listUsers = (users: UserStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['support', 'finance', 'read_only'] }),
    operationId: 'listUsers',
    tag,
    summary: 'List accounts',
    notes: 'Newest first.',
    query: UserFilter,
    responses: { 200: UserList },
    handler: ({ query }) => {
      const { limit, offset, cursor, ...filter } = query
      return users.list(
        toPage({ limit, offset, cursor }, `users ${JSON.stringify(filter)}`),
        filter,
      )
    },
  })

const createUser = (users: UserStore) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createUser',
    tag,
    summary: 'Create an account',
    notes: 'Its owner receives an invitation to sign in by mail.',
    body: NewUser,
    examples: { 'An account': { email: 'ada@example.com' } },
    responses: { 201: User },
    handler: ({ body }) => users.create(body),
  })

const getUser = (users: UserStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: operator({ roles: ['support', 'finance', 'read_only'] }),
    operationId: 'getUser',
    tag,
    summary: 'Get an account',
    params,
    responses: { 200: User },
    handler: ({ params: { id } }) => users.get(id),
  })

const changeUser = (users: UserStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access,
    operationId: 'changeUser',
    tag,
    summary: 'Update an account, its plan or its limits',
    params,
    body: ChangedUser,
    examples: { 'A limit that overrides the plan': { limits: { requests_per_minute: 600 } } },
    responses: { 200: User },
    handler: ({ params: { id }, body }) => users.change(id, body),
  })

const eraseUser = (users: UserStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access,
    operationId: 'eraseUser',
    tag,
    summary: 'Delete an account and its personal data',
    notes: 'The ledger keeps its amounts.',
    params,
    responses: { 200: Success },
    handler: ({ params: { id } }) => users.erase(id),
  })

const exportUser = (users: UserStore) =>
  route({
    method: 'get',
    path: `${path}/:id/export`,
    access,
    operationId: 'exportUser',
    tag,
    summary: 'Export the data of an account',
    notes: 'Everything that the account owns, without secrets.',
    params,
    responses: {
      200: {
        description: 'One JSON object a line',
        content: { 'application/x-ndjson': UserExportLine },
      },
    },
    handler: async ({ c, params: { id } }) => {
      const type = { 'content-type': 'application/x-ndjson' }
      if (c.req.method !== 'HEAD') return c.body(await users.export(id), 200, type)
      // An export without a reader would block the next one until it expires.
      await users.get(id)
      return c.body(null, 200, type)
    },
  })

const suspendUser = (users: UserStore) =>
  route({
    method: 'post',
    path: `${path}/:id/suspend`,
    access: operator({ roles: ['support'] }),
    operationId: 'suspendUser',
    tag,
    summary: 'Suspend an account',
    notes:
      'Its keys and sessions stop working within a second. Accounts of operators: by full operators only, and never the last one.',
    params,
    body: Suspension,
    examples: { 'With a reason': { reason: 'Requested by its owner.' } },
    responses: { 200: User },
    handler: ({ c, params: { id }, body }) => users.suspend(id, body.reason, c.get('operatorRole')),
  })

const reinstateUser = (users: UserStore) =>
  route({
    method: 'post',
    path: `${path}/:id/reinstate`,
    access: operator({ roles: ['support'] }),
    operationId: 'reinstateUser',
    tag,
    summary: 'Reinstate a suspended account',
    notes: 'Accounts of operators: by full operators only.',
    params,
    responses: { 200: User },
    handler: ({ c, params: { id } }) => users.reinstate(id, c.get('operatorRole')),
  })

const createUserLink = (users: UserStore) =>
  route({
    method: 'post',
    path: `${path}/:id/sign-in-link`,
    access,
    operationId: 'createSignInLink',
    tag,
    summary: 'Create a sign-in link for an account',
    notes:
      'For the owner of an account, where no mail arrives. The link signs in once, within an hour, and confirms the address; earlier links of the account stop working. A second factor, where the account has one, is still required.',
    params,
    responses: { 200: SignInLink },
    errors: ['rate_limit_exceeded'],
    handler: ({ params: { id } }) => users.createSignInLink(id),
  })
