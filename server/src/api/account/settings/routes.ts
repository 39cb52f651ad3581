import { ChangedSettings } from './schema'
import type { AccountSettingsStore } from './store'
import { account } from '../../../http/access'
import { Settings } from '../../../http/account-settings'
import { route, type Route } from '../../../http/route'

const tag = 'Settings'
const path = '/api/account/settings'

/** Settings of an account. Source: contract 6.5. */
export const settingsRoutes = (settings: AccountSettingsStore): Route[] => [
  getSettings(settings),
  changeSettings(settings),
]

const getSettings = (settings: AccountSettingsStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'getSettings',
    tag,
    summary: 'Get the settings of your account',
    notes: 'Plan, funding source, logging and automatic recharge.',
    responses: { 200: Settings },
    handler: ({ principal }) => settings.get(principal.userId),
  })

const changeSettings = (settings: AccountSettingsStore) =>
  route({
    method: 'put',
    path,
    access: account('admin'),
    operationId: 'changeSettings',
    tag,
    summary: 'Update the settings of your account',
    notes:
      'With `funding_source` `organization` an organization pays for you; you must be an active member there, and no viewer. `auto_recharge` needs a saved payment method.',
    body: ChangedSettings,
    examples: { 'Your own account pays': { funding_source: 'personal' } },
    responses: { 200: Settings },
    handler: ({ principal, body }) => settings.change(principal.userId, body),
  })
