import { CreatedKey, RotatedKey } from './schema'
import type { OwnKeyStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { route, type Route } from '../../../http/route'
import { ChangedKey, Key, KeyList, NewKey, Rotation } from '../../../keys/schema'

const tag = 'Keys'
const access = account('admin')
const path = '/api/account/keys'
const params = { id: objectId('key').describe('ID of the key') }

/** The keys of the calling account. Source: contract 6.4. */
export const keyRoutes = (keys: OwnKeyStore): Route[] => [
  listKeys(keys),
  createKey(keys),
  changeKey(keys),
  rotateKey(keys),
  deleteKey(keys),
]

const listKeys = (keys: OwnKeyStore) =>
  route({
    method: 'get',
    path,
    access,
    operationId: 'listKeys',
    tag,
    summary: 'List keys',
    notes:
      'Includes expired and disabled keys, with the spending of each. Only hashes of secrets are stored: `key_prefix` is all of a secret that can be shown.',
    responses: { 200: KeyList },
    handler: ({ principal }) => keys.list(principal),
  })

const createKey = (keys: OwnKeyStore) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createKey',
    tag,
    summary: 'Create a key',
    notes:
      'Only this response contains the secret, in `key`. The key has `read` and `write` unless `permissions` says otherwise. It cannot have more permissions, or a later expiry, than the key of this request.',
    body: NewKey,
    examples: {
      'For one service': { name: 'Search', permissions: ['write'], monthly_spend_limit: 25 },
      'For a week': { name: 'Trial', expires_in_days: 7 },
    },
    responses: { 201: CreatedKey },
    handler: ({ principal, body }) => keys.create(principal, body),
  })

const changeKey = (keys: OwnKeyStore) =>
  route({
    method: 'patch',
    path: `${path}/:id`,
    access,
    operationId: 'changeKey',
    tag,
    summary: 'Update a key',
    notes:
      'Takes effect on every node within a second. Fields that are absent stay, null removes a limit. A disabled key is rejected with 401 `invalid_api_key`, until `disabled_until` or until it is enabled. A key with limits of its own cannot change keys.',
    params,
    body: ChangedKey,
    examples: {
      'Another limit': { name: 'Search', monthly_spend_limit: 50 },
      'Some models only': { allowed_models: ['sandbox/*'] },
      'All but a provider, for chats only': {
        denied_providers: ['openai'],
        allowed_endpoints: ['chat'],
      },
      'From some addresses only': { allowed_addresses: ['203.0.113.0/24', '2001:db8::/32'] },
      'With tags': { tags: ['production', 'team:search'] },
      'Disable until enabled': { disabled: true },
      Enable: { disabled: false },
    },
    responses: { 200: Key },
    handler: ({ principal, params: { id }, body }) => keys.change(principal, id, body),
  })

const rotateKey = (keys: OwnKeyStore) =>
  route({
    method: 'post',
    path: `${path}/:id/rotate`,
    access,
    operationId: 'rotateKey',
    tag,
    summary: 'Rotate a key',
    notes:
      'Replaces the secret. The old one stays valid for `overlap_seconds`, a day without them, so that clients can change to the new one; with 0 it is invalid at once, as are those of earlier rotations. ID, permissions, limits, lists, spending and expiry stay. Only this response contains the new secret. An old secret cannot rotate its key.',
    params,
    body: Rotation,
    examples: { 'Over a week': { overlap_seconds: 604_800 }, 'At once': { overlap_seconds: 0 } },
    responses: { 200: RotatedKey },
    handler: ({ principal, params: { id }, body }) => keys.rotate(principal, id, body),
  })

const deleteKey = (keys: OwnKeyStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access,
    operationId: 'deleteKey',
    tag,
    summary: 'Delete a key',
    notes: 'The key is invalid on every node within a second. A key may delete itself.',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { id } }) => keys.delete(principal, id),
  })
