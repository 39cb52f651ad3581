import type { Mail } from '../mail/outbox'

/**
 * Mails about accounts go to addresses that anybody may have typed, so that they hold no text of a caller's, not
 * even a name: a mail of this service would carry it to strangers.
 */
interface Recipient {
  email: string
}

const greeted = (lines: readonly string[]) => ['Hello,', '', ...lines, ''].join('\n')

const unasked = 'If you did not ask for it, nothing happens unless you open the link.'

/** An address has to be shown to belong to who signed up with it. */
export const verificationMail = (to: Recipient, url: string): Mail => ({
  recipient: to.email,
  subject: 'Confirm your address',
  body: greeted(['Open this link to confirm your address, within an hour:', '', url, '', unasked]),
})

/** Somebody forgot a password, or says so. */
export const resetMail = (to: Recipient, url: string): Mail => ({
  recipient: to.email,
  subject: 'Choose a new password',
  body: greeted(['Open this link to choose a new password, within an hour:', '', url, '', unasked]),
})

/** Whoever signs up with an address that has an account is told nothing; its owner is. */
export const takenMail = (to: Recipient, url: string): Mail => ({
  recipient: to.email,
  subject: 'You have an account already',
  body: greeted([
    'Somebody tried to make an account with your address. You have one: sign in here, or choose',
    'a new password there:',
    '',
    url,
  ]),
})

/** A link that signs in by itself. */
export const linkMail = (to: Recipient, url: string): Mail => ({
  recipient: to.email,
  subject: 'Your link to sign in',
  body: greeted(['Open this link to sign in. It works once:', '', url, '', unasked]),
})

/** An operator made an account for somebody. */
export const welcomeMail = (to: Recipient, url: string): Mail => ({
  recipient: to.email,
  subject: 'Your account is ready',
  body: greeted([
    'An account was made for you. Open this link within seven days to sign in; it works once:',
    '',
    url,
  ]),
})
