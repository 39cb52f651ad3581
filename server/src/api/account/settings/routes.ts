import { Hono } from 'hono'
import { ChangedSettings } from './schema'
import type { AccountSettingsStore } from './store'
import { Settings } from '../../../http/account-settings'
import { accountRoute } from '../../../http/documentation'
import type { Env } from '../../../http/env'
import { readChangedFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'

const path = '/api/account/settings'
const tag = 'Settings'

const getSettings = accountRoute({
  operationId: 'getSettings',
  summary: 'What you are and have set',
  tag,
  answer: Settings,
})

const changeSettings = accountRoute({
  operationId: 'changeSettings',
  summary: 'Change who pays for you, what is logged, and when credit is bought',
  tag,
  body: [
    'ChangedSettings',
    ChangedSettings,
    { 'Your own account pays': { funding_source: 'personal' } },
  ],
  answer: Settings,
})

/** Settings of an account. Source: contract 6.5. */
export const settingsRoutes = (settings: AccountSettingsStore, { account }: Guards) =>
  new Hono<Env>()
    .get(path, getSettings, account('read', 'account'), async (c) =>
      c.json(await settings.get(c.var.principal.userId)),
    )
    .put(path, changeSettings, account('admin', 'account'), async (c) =>
      c.json(
        await settings.change(c.var.principal.userId, await readChangedFields(c, ChangedSettings)),
      ),
    )
