import { ChangedBranding } from './schema'
import { operatorRoute } from '../../../http/documentation'
import { Branding } from '../../../platform/settings/branding'

const tag = 'Branding'
const answer = Branding.meta({ ref: 'Branding' })

export const described = {
  get: operatorRoute({
    operationId: 'getBranding',
    summary: 'How the installation presents itself',
    tag,
    answer,
  }),
  change: operatorRoute({
    operationId: 'changeBranding',
    summary: 'Change how the installation presents itself',
    tag,
    answer,
    body: ['ChangedBranding', ChangedBranding, { 'A name': { name: 'Our gateway' } }],
  }),
}
