/** The settings of a gateway that has a mail server, which it never asks: tests read the mails in its queue. */
export const mailEnvironment = {
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'Tollgate <tollgate@gate.example>',
  MAIL_SECONDS: '3600',
}
