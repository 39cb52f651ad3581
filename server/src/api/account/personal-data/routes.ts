import { z } from 'zod'
import { invalidRequest } from '../../../errors'
import { account } from '../../../http/access'
import { Success } from '../../../http/answers'
import { route, type Route } from '../../../http/route'
import { hasKey } from '../../../http/session'

/** Export and deletion, as operators have them for any account. */
export interface PersonalDataPorts {
  /** Rejects with `invalid_request` while the account is being exported. */
  exportOf: (userId: string) => Promise<ReadableStream<Uint8Array>>
  emailOf: (userId: string) => Promise<string>
  /** Rejects with `invalid_request` for the owner of an organization, and during a legal hold. */
  erase: (userId: string) => Promise<z.input<typeof Success>>
}

const tag = 'Settings'

const PersonalDataLine = z
  .object({ table: z.string(), row: z.record(z.string(), z.unknown()) })
  .meta({ ref: 'PersonalDataLine' })

const AccountDeletion = z
  .object({ email: z.string().max(254).describe('The address of the account, to confirm') })
  .meta({ ref: 'AccountDeletion' })

/** Export and deletion of the calling account. Source: contract 6.15. */
export const personalDataRoutes = (ports: PersonalDataPorts): Route[] => [
  exportAccount(ports),
  deleteAccount(ports),
]

const exportAccount = ({ exportOf }: PersonalDataPorts) =>
  route({
    method: 'get',
    path: '/api/account/export',
    access: account('admin'),
    operationId: 'exportAccount',
    tag,
    summary: 'Export all data of your account',
    notes: 'Without secrets. One export at a time; it may take ten minutes.',
    responses: {
      200: {
        description: 'One JSON object a line',
        content: { 'application/x-ndjson': PersonalDataLine },
      },
    },
    handler: async ({ c, principal: { userId } }) => {
      const headers = { 'content-type': 'application/x-ndjson' }
      // An export without a reader would block the next one until it expires.
      if (c.req.method === 'HEAD') return c.body(null, 200, headers)
      return c.body(await exportOf(userId), 200, headers)
    },
  })

const deleteAccount = ({ emailOf, erase }: PersonalDataPorts) =>
  route({
    method: 'post',
    path: '/api/account/delete',
    access: account('admin'),
    operationId: 'deleteAccount',
    tag,
    summary: 'Request the deletion of your account and its data',
    notes:
      'At once, for signed-in users, not for keys. The ledger keeps its amounts under an id that no longer identifies a person; a remaining balance is lost. Rejected for the owner of an organization, and during a legal hold.',
    body: AccountDeletion,
    examples: { 'With its address': { email: 'ada@example.com' } },
    responses: { 200: Success },
    handler: async ({ c, principal: { userId }, body: { email } }) => {
      if (hasKey(c.req.raw)) {
        throw invalidRequest(null, 'not_allowed', 'Sign in to delete your account: no key can.')
      }
      if ((await emailOf(userId)) !== email.trim().toLowerCase()) {
        throw invalidRequest('email', 'unknown_value', 'email: not the address of your account.')
      }
      return erase(userId)
    },
  })
