import { z } from 'zod'
import { Network } from '../networks'

const maxNetworks = 50

/** Parses addresses and networks such as `10.0.0.0/8`, separated by commas. */
export const Networks = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((network) => network.trim() || []))
  .refine(
    (networks) =>
      networks.length <= maxNetworks && networks.every((it) => Network.safeParse(it).success),
    'must be addresses or networks such as 10.0.0.0/8, with commas between them',
  )
