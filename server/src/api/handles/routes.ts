import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { Handle, NewHandle } from './schema'
import type { HandleStore } from './store'
import { accepts, answers, documented, keyErrors } from '../../http/documentation'
import type { Env } from '../../http/env'
import { changedFields } from '../../http/fields'
import type { Guards } from '../../http/guards'

const path = '/api/account/handles'
const about = { tags: ['Handle'], security: [{ apiKey: [] }] }

/** The name by which an account's own connections are called. Source: api.md 6.3. */
export const handleRoutes = (handles: HandleStore, { account }: Guards) =>
  new Hono<Env>()
    .get(
      path,
      describeRoute({
        ...about,
        operationId: 'getHandle',
        summary: 'Your handle',
        responses: { ...answers(200, 'The handle', Handle), ...documented(...keyErrors) },
      }),
      account('read'),
      async (c) => c.json(await handles.get(c.var.principal.userId)),
    )
    .put(
      path,
      describeRoute({
        ...about,
        operationId: 'setHandle',
        summary: 'Take a handle, or change it once in 30 days',
        requestBody: accepts('NewHandle', NewHandle, { 'A handle': { handle: 'ada' } }),
        responses: {
          ...answers(200, 'The handle', Handle),
          ...documented('invalid_request', ...keyErrors),
        },
      }),
      account('write'),
      async (c) => {
        const { handle } = await changedFields(c, NewHandle)
        return c.json(await handles.set(c.var.principal.userId, handle))
      },
    )
