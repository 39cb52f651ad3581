import { z } from 'zod'
import { ChangedUser, NewUser, Suspension, User, UserFilter, UserList } from './schema'
import { Done, operatorRoute, paging } from '../../../http/documentation'
import { ChangedKey, Key, NewKey } from '../../../keys/schema'

const tag = 'Users'
const path = ['id'] as const
const keyPath = ['id', 'key_id'] as const

const KeyList = z.object({ keys: z.array(Key) }).meta({ ref: 'KeyList' })
const MadeKey = Key.extend({
  key: z.string().describe('The secret: in this answer, and never again.'),
  message: z.string(),
}).meta({ ref: 'MadeKey' })

const users = {
  list: operatorRoute({
    operationId: 'listUsers',
    summary: 'All accounts, newest first',
    tag,
    query: ['search', ...Object.keys(UserFilter.shape), ...paging],
    answer: UserList,
  }),
  create: operatorRoute({
    operationId: 'createUser',
    summary: 'Make an account, which gets an invitation to sign in by mail',
    tag,
    status: 201,
    answer: User,
    body: ['NewUser', NewUser, { 'An account': { email: 'ada@example.com' } }],
  }),
  get: operatorRoute({
    operationId: 'getUser',
    summary: 'One account',
    tag,
    path,
    answer: User,
  }),
  change: operatorRoute({
    operationId: 'changeUser',
    summary: 'Change an account, its plan or its limits',
    tag,
    path,
    answer: User,
    body: [
      'ChangedUser',
      ChangedUser,
      { 'A limit of its own': { limits: { requests_per_minute: 600 } } },
    ],
  }),
  erase: operatorRoute({
    operationId: 'eraseUser',
    summary: 'Erase an account and its personal data; the ledger keeps its amounts',
    tag,
    path,
    answer: Done,
  }),
  export: operatorRoute({
    operationId: 'exportUser',
    summary: 'All that an account owns but its secrets, a line of JSON each',
    tag,
    path,
    answer: z.object({ table: z.string(), row: z.record(z.string(), z.unknown()) }),
    type: 'application/x-ndjson',
  }),
  suspend: operatorRoute({
    operationId: 'suspendUser',
    summary: 'Suspend an account: its keys and sessions end within a second',
    tag,
    path,
    answer: User,
    body: ['Suspension', Suspension, { 'With a reason': { reason: 'Asked for by its owner.' } }],
  }),
  reinstate: operatorRoute({
    operationId: 'reinstateUser',
    summary: 'Let a suspended account in again',
    tag,
    path,
    answer: User,
  }),
}

const keys = {
  listKeys: operatorRoute({
    operationId: 'listUserKeys',
    summary: 'The service keys of an account',
    tag,
    path,
    answer: KeyList,
  }),
  createKey: operatorRoute({
    operationId: 'createUserKey',
    summary: 'Make a service key for an account',
    tag,
    status: 201,
    path,
    answer: MadeKey,
    body: ['NewUserKey', NewKey, { 'With a limit': { name: 'One', monthly_spend_limit: 25 } }],
  }),
  changeKey: operatorRoute({
    operationId: 'changeUserKey',
    summary: 'Change a service key of an account',
    tag,
    path: keyPath,
    answer: Key,
    body: ['ChangedKey', ChangedKey, { 'Only read': { permissions: ['read'] } }],
  }),
  deleteKey: operatorRoute({
    operationId: 'deleteUserKey',
    summary: 'Delete a service key of an account, which stops at once',
    tag,
    path: keyPath,
    answer: Done,
  }),
}

export const described = { ...users, ...keys }
