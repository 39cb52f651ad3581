import { ChangedConfig, Config } from './schema'
import { operatorRoute } from '../../../http/documentation'

const tag = 'Configuration'

export const described = {
  get: operatorRoute({
    operationId: 'getConfig',
    summary: 'All settings that can be changed while servers run',
    tag,
    answer: Config,
  }),
  change: operatorRoute({
    operationId: 'changeConfig',
    summary: 'Change settings, on every node within five seconds',
    tag,
    answer: Config,
    body: [
      'ChangedConfig',
      ChangedConfig,
      { 'A fee, and more time': { platform_fee_percent: 2.5, timers: { request_seconds: 300 } } },
    ],
  }),
}
