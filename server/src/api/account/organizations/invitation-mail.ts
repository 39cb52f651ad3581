import { sql, type Transaction } from 'kysely'
import { lockAccount } from '../../../platform/db/account-row'
import type { Invitation } from './invitation-schema'
import type { Schema } from '../../../platform/db/schema'
import { ApiError } from '../../../errors'
import { notify } from '../../../notifications/notify'
import { postMail } from '../../../platform/mail/outbox'
import { toOneLine } from '../../../wire/one-line'

const windowSeconds = 86_400
/** The longest name in a mail, in characters. */
const maxName = 100

interface Sender {
  userId: string
  /** The most mails in 24 hours. */
  limit: number
}

/**
 * Counts one mail of an account, in the transaction that queues it. Rejects with `rate_limit_exceeded`.
 * Source: contract 3.1.
 */
export async function countMail(trx: Transaction<Schema>, { userId, limit }: Sender) {
  await lockAccount(trx, userId)
  await trx
    .deleteFrom('invitation_mail')
    .where('user_id', '=', userId)
    .where('sent_at', '<=', sql<Date>`now() - make_interval(secs => ${windowSeconds})`)
    .execute()
  const mails = await trx
    .selectFrom('invitation_mail')
    .select('sent_at')
    .where('user_id', '=', userId)
    .orderBy('sent_at')
    .execute()
  // Once this one leaves the window, there is room for another.
  const oldest = mails[mails.length - limit]
  if (mails.length >= limit && oldest) {
    throw tooManyMails(limit, oldest.sent_at.getTime() + windowSeconds * 1000)
  }
  await trx.insertInto('invitation_mail').values({ user_id: userId }).execute()
}

function tooManyMails(limit: number, resetAtMs: number): ApiError {
  const seconds = Math.max(1, (resetAtMs - Date.now()) / 1000)
  return new ApiError('rate_limit_exceeded', {
    message: `An account can send ${limit} invitations a day. Retry after the time in Retry-After.`,
    details: { limit, window: windowSeconds, retry_after: Math.ceil(seconds) },
    retryAfterSeconds: seconds,
    quota: { limit, remaining: 0, resetAtMs },
  })
}

/** Queues the mail, and a notification where the address has an account, whose address is verified. */
export async function sendInvitation(
  trx: Transaction<Schema>,
  invitation: Invitation,
  address: string,
): Promise<void> {
  const { email, role, expires_at } = invitation
  const until = expires_at.slice(0, 10)
  const account = await trx
    .selectFrom('users')
    .select('id')
    .where(sql`lower(email)`, '=', email)
    .where('email_verified', '=', true)
    .executeTakeFirst()
  const accountName = account ? nameOf(invitation) : undefined
  await postMail(trx, {
    recipient: email,
    subject: accountName
      ? `You are invited to ${accountName.organization}`
      : 'You are invited to an organization',
    body: [
      accountName
        ? `${accountName.inviter} invites you to join ${accountName.organization} as ${role}.`
        : `You are invited to join an organization as ${role}.`,
      `Sign in with this address at ${address} to ${accountName ? '' : 'see who invites you, and to '}` +
        `accept or decline. The invitation is valid until ${until}.`,
      'If you do not expect an invitation, ignore this mail.',
    ].join('\n\n'),
  })
  if (!account || !accountName) return
  await notify(trx, {
    userId: account.id,
    kind: 'invitation',
    title: `${accountName.organization} invites you`,
    body: `${accountName.inviter} invites you. You can join as ${role} until ${until}.`,
    link: '/organizations',
  })
}

/**
 * The names in an invitation. Any account may invite any address: an address without an account gets none of the free text
 * that members choose; who has one can see, and report, who writes.
 */
const nameOf = ({ organization_name: organization, inviter_name: inviter }: Invitation) => ({
  organization: toOneLine(organization, maxName),
  inviter: inviter === null ? 'A member' : toOneLine(inviter, maxName),
})
