import { Hono } from 'hono'
import { z } from 'zod'
import * as described from './description'
import { Bulk, ChangedPrompt, NewPrompt } from './schema'
import type { PromptStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { toPage } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/user/prompts'
const one = `${paths}/:id`

const Filter = z.object({
  search: z.string().trim().max(100).optional(),
  category: z.string().trim().optional(),
  tag: z.string().trim().optional(),
  is_favorite: z.enum(['true', 'false']).optional(),
})

/** Saved prompts of an account. Source: contract 6.10. */
export const promptRoutes = (prompts: PromptStore, { account }: Guards) =>
  new Hono<Env>()
    .get(paths, described.listPrompts, account('read', 'account'), async (c) => {
      const filter = check(Filter, c.req.query())
      const { userId } = c.var.principal
      const page = toPage(c, `prompts ${userId} ${JSON.stringify(filter)}`)
      return c.json(await prompts.list(userId, page, filter))
    })
    .post(paths, described.createPrompt, account('write', 'account', 'larger'), async (c) =>
      c.json(await prompts.create(c.var.principal.userId, await readNewFields(c, NewPrompt)), 201),
    )
    .post(
      `${paths}/bulk`,
      described.bulkPrompts,
      account('write', 'account', 'bulk'),
      async (c) => {
        const { userId } = c.var.principal
        const { action, prompts: wanted, ids } = await readNewFields(c, Bulk)
        return action === 'create'
          ? c.json(await prompts.createMany(userId, wanted ?? []), 201)
          : c.json(await prompts.deleteMany(userId, ids ?? []))
      },
    )
    .put(one, described.changePrompt, account('write', 'account', 'larger'), async (c) => {
      const fields = await readChangedFields(c, ChangedPrompt)
      return c.json(await prompts.change(c.var.principal.userId, c.req.param('id'), fields))
    })
    .delete(one, described.deletePrompt, account('write', 'account'), async (c) =>
      c.json(await prompts.delete(c.var.principal.userId, c.req.param('id'))),
    )
