import { Hono } from 'hono'
import { Handle, NewHandle } from './schema'
import type { HandleStore } from './store'
import { accountRoute } from '../../../http/documentation'
import type { Env } from '../../../http/env'
import { readChangedFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'

const path = '/api/account/handles'
const tag = 'Handle'

const getHandle = accountRoute({
  operationId: 'getHandle',
  summary: 'Your handle',
  tag,
  answer: Handle,
})

const setHandle = accountRoute({
  operationId: 'setHandle',
  summary: 'Take a handle, or change it once in 30 days',
  tag,
  body: ['NewHandle', NewHandle, { 'A handle': { handle: 'ada' } }],
  answer: Handle,
})

/** The handle under which callers address an account's own connections. Source: contract 6.6. */
export const handleRoutes = (handles: HandleStore, { account }: Guards) =>
  new Hono<Env>()
    .get(path, getHandle, account('read', 'account'), async (c) =>
      c.json(await handles.get(c.var.principal.userId)),
    )
    .put(path, setHandle, account('write', 'account'), async (c) => {
      const { handle } = await readChangedFields(c, NewHandle)
      return c.json(await handles.set(c.var.principal.userId, handle))
    })
