import { Handle, NewHandle } from './schema'
import type { HandleStore } from './store'
import { account } from '../../../http/access'
import { route, type Route } from '../../../http/route'

const tag = 'Handle'
const path = '/api/account/handles'

/** The handle under which callers address an account's own connections. Source: contract 6.6. */
export const handleRoutes = (handles: HandleStore): Route[] => [
  getHandle(handles),
  setHandle(handles),
]

const getHandle = (handles: HandleStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'getHandle',
    tag,
    summary: 'Get your handle',
    notes: '`<handle>/<provider>/<model>` calls a model on your own connections only.',
    responses: { 200: Handle },
    handler: ({ principal }) => handles.get(principal.userId),
  })

const setHandle = (handles: HandleStore) =>
  route({
    method: 'put',
    path,
    access: account('write'),
    operationId: 'setHandle',
    tag,
    summary: 'Set your handle',
    notes:
      'Can be changed once in 30 days. 3 to 30 characters of `a-z`, `0-9` and hyphens; unique among handles, organizations and providers.',
    body: NewHandle,
    examples: { 'A handle': { handle: 'ada' } },
    responses: { 200: Handle },
    handler: ({ principal, body }) => handles.set(principal.userId, body.handle),
  })
