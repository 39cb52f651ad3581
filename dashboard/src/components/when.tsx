const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const withSecond = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

interface Props {
  /** A timestamp. */
  at: string
  withSeconds?: boolean
}

/** A moment where the reader lives, the exact one in its title. */
export const When = ({ at, withSeconds = false }: Props) => (
  <time dateTime={at} title={exact.format(new Date(at))}>
    {(withSeconds ? withSecond : short).format(new Date(at))}
  </time>
)
