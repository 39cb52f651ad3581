import { Button, Menu } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  /** Of what the row shows. */
  name: string
  isBusy?: boolean
  /** Items of the menu. */
  children: ReactNode
}

/** What can be done with one row of a table. */
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
