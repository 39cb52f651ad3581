import { z } from 'zod'
import type { UserStore } from './store'
import { operator } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { route, type Route } from '../../../http/route'
import { ChangedKey, Key, NewKey, KeyList } from '../../../keys/schema'

type Keys = UserStore['keys']

const tag = 'Users'
const access = operator()
const path = '/api/admin/users/:id/keys'
const params = { id: objectId('user').describe('ID of the account') }
const keyParams = { ...params, key_id: objectId('key').describe('ID of the key') }

const CreatedUserKey = Key.extend({
  key: z.string().describe('The secret. It is shown only in this answer.'),
  message: z.string(),
}).meta({ ref: 'MadeKey' })
const NewUserKey = NewKey.meta({ ref: 'NewUserKey' })

/** Service keys of an account, for the operator. Source: contract 9.2. */
export const userKeyRoutes = (keys: Keys): Route[] => [
  listUserKeys(keys),
  createUserKey(keys),
  changeUserKey(keys),
  deleteUserKey(keys),
]

const listUserKeys = (keys: Keys) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['support', 'read_only'] }),
    operationId: 'listUserKeys',
    tag,
    summary: 'List the API keys of an account',
    params,
    responses: { 200: KeyList },
    handler: ({ params: { id } }) => keys.list(id),
  })

const createUserKey = (keys: Keys) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createUserKey',
    tag,
    summary: 'Create an API key for an account',
    params,
    body: NewUserKey,
    examples: { 'With a spending limit': { name: 'One', monthly_spend_limit: 25 } },
    responses: { 201: CreatedUserKey },
    handler: ({ params: { id }, body }) => keys.create(id, body),
  })

const changeUserKey = (keys: Keys) =>
  route({
    method: 'put',
    path: `${path}/:key_id`,
    access,
    operationId: 'changeUserKey',
    tag,
    summary: 'Update an API key of an account',
    params: keyParams,
    body: ChangedKey,
    examples: { 'Read only': { permissions: ['read'] } },
    responses: { 200: Key },
    handler: ({ params: { id, key_id: keyId }, body }) => keys.change(id, keyId, body),
  })

const deleteUserKey = (keys: Keys) =>
  route({
    method: 'delete',
    path: `${path}/:key_id`,
    access,
    operationId: 'deleteUserKey',
    tag,
    summary: 'Delete an API key of an account',
    notes: 'It stops working within a second on every node.',
    params: keyParams,
    responses: { 200: Success },
    handler: ({ params: { id, key_id: keyId } }) => keys.delete(id, keyId),
  })
