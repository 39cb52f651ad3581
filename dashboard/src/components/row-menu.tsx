import { Button, Menu } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  /** The name of the row's item. */
  name: string
  isBusy?: boolean
  /** Menu items. */
  children: ReactNode
}

/** The menu of actions of a table row. */
export const RowMenu = ({ name, isBusy = false, children }: Props) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <Button size="xs" variant="default" loading={isBusy} aria-label={`Actions for ${name}`}>
        Actions
      </Button>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
)
