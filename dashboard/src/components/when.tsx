const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

/** A moment where the reader lives, the exact one in its title. `at` is a timestamp. */
export const When = ({ at }: { at: string }) => (
  <time dateTime={at} title={exact.format(new Date(at))}>
    {short.format(new Date(at))}
  </time>
)
