import { ChangedConfig, Config } from './schema'
import type { ConfigStore } from './store'
import { operator } from '../../../http/access'
import { route, type Route } from '../../../http/route'

const tag = 'Configuration'
const access = operator()
const path = '/api/admin/config'

/** The live settings of the installation, for the operator. Source: contract 9.2. */
export const configRoutes = (config: ConfigStore): Route[] => [
  getConfig(config),
  changeConfig(config),
]

const getConfig = (config: ConfigStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['read_only'] }),
    operationId: 'getConfig',
    tag,
    summary: 'Get the live settings',
    responses: { 200: Config },
    handler: () => config.get(),
  })

const changeConfig = (config: ConfigStore) =>
  route({
    method: 'put',
    path,
    access,
    operationId: 'changeConfig',
    tag,
    summary: 'Update the live settings',
    notes: 'Takes effect on every node within five seconds.',
    body: ChangedConfig,
    examples: {
      'A fee, and a longer request timeout': {
        platform_fee_percent: 2.5,
        timers: { request_seconds: 300 },
      },
    },
    responses: { 200: Config },
    handler: ({ body }) => config.change(body),
  })
