import { Drawer, type DrawerProps } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useItemTitle } from './document-title'

type Props = Omit<DrawerProps, 'opened' | 'position'>

/**
 * A drawer on the right that is mounted while it is open, beside a list. Closing it gives the focus back to what opened it,
 * else to the content of the page.
 */
export function SidePanel(props: Props) {
  useItemTitle(typeof props.title === 'string' ? props.title : undefined)
  const [opener] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      const isThere = opener instanceof HTMLElement && opener.isConnected
      const target = isThere && opener !== document.body ? opener : document.querySelector('main')
      target?.focus()
    },
    [opener],
  )
  return <Drawer opened position="right" {...props} />
}
