import type { Mail } from '../../platform/mail/outbox'

/**
 * Mails about accounts go to addresses that any client may have entered, so that they hold no text of a client's, not
 * even a name: a mail of this service would carry it to strangers.
 */
interface Recipient {
  email: string
}

const greeted = (lines: readonly string[]) => ['Hello,', '', ...lines, ''].join('\n')

const unasked =
  'If you did not request this, ignore this e-mail: nothing happens unless you open the link.'

/** Asks a new account's owner to confirm the address. */
export const verificationMail = (to: Recipient, url: string): Mail => ({
  recipient: to.email,
  subject: 'Confirm your address',
  body: greeted(['Open this link to confirm your address, within an hour:', '', url, '', unasked]),
})

/** The mail of a requested password reset. */
export const resetMail = (to: Recipient, url: string): Mail => ({
  recipient: to.email,
  subject: 'Choose a new password',
  body: greeted(['Open this link to choose a new password, within an hour:', '', url, '', unasked]),
})

/**
 * Informs an account's owner that a sign-up used the address; the answer to the sign-up does not reveal the account.
 */
export const emailTakenMail = (to: Recipient, url: string): Mail => ({
  recipient: to.email,
  subject: 'You already have an account',
  body: greeted([
    'Someone tried to create an account with your address. You already have one: sign in here, or choose',
    'a new password there:',
    '',
    url,
  ]),
})

/** The mail with a sign-in link. */
export const linkMail = (to: Recipient, url: string): Mail => ({
  recipient: to.email,
  subject: 'Your link to sign in',
  body: greeted(['Open this link to sign in. It works once:', '', url, '', unasked]),
})

/** Welcomes the owner of an account that an operator created. */
export const welcomeMail = (to: Recipient, url: string): Mail => ({
  recipient: to.email,
  subject: 'Your account is ready',
  body: greeted([
    'An account was created for you. Open this link within seven days to sign in; it works once:',
    '',
    url,
  ]),
})
