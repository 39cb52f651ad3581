import { z } from 'zod'

const Network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])
const mostNetworks = 50

/** Addresses and networks such as `10.0.0.0/8`, with commas between them. */
export const Networks = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((network) => network.trim() || []))
  .refine(
    (networks) =>
      networks.length <= mostNetworks && networks.every((it) => Network.safeParse(it).success),
    'must be addresses or networks such as 10.0.0.0/8, with commas between them',
  )

/** Numbers with commas between them. */
export const Ports = z
  .string()
  .regex(/^\d{1,5}(,\d{1,5}){0,49}$/, 'must be port numbers with commas between them')
  .default('443')
  .transform((text) => text.split(',').map(Number))
  .refine((ports) => ports.every((port) => port > 0 && port < 65_536), 'must be 1 to 65535 each')
