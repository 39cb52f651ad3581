const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const withSecond = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

interface Props {
  /** A timestamp, ISO 8601. */
  at: string
  withSeconds?: boolean
}

/** A local time, with the exact time as its title. */
export const When = ({ at, withSeconds = false }: Props) => (
  <time dateTime={at} title={exact.format(new Date(at))}>
    {(withSeconds ? withSecond : short).format(new Date(at))}
  </time>
)
