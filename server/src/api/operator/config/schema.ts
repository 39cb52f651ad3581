import { z } from 'zod'
import { toAnswerShape, toBodyShape } from '../../../platform/settings/live-setting'
import { liveSettings } from '../../../platform/settings/settings'

/** The fields that a PUT may change. Source: contract 9.2. */
export const ChangedConfig = z.object(toBodyShape(liveSettings)).meta({ ref: 'ChangedConfig' })
export type ChangedConfig = z.output<typeof ChangedConfig>

/** The whole configuration, as the API shows it. */
export const Config = z.object(toAnswerShape(liveSettings)).meta({ ref: 'Config' })
