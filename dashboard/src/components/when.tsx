const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A time where the reader is, with the exact one in its title. */
export const When = ({ at }: { at: string }) => (
  <time dateTime={at} title={at}>
    {short.format(new Date(at))}
  </time>
)
