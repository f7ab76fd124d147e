import { type ReactNode, useId } from 'react';

type Props = {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
  footer?: ReactNode;
  /** On a phone it comes before the other panels. */
  isUrgent?: boolean;
};

export function Panel({ title, aside, children, footer, isUrgent = false }: Props) {
  const heading = useId();
  return (
    <section className={isUrgent ? 'panel urgent' : 'panel'} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{title}</h2>
        {aside !== undefined && <div className="aside">{aside}</div>}
      </header>
      {children}
      {footer !== undefined && <footer>{footer}</footer>}
    </section>
  );
}

export function PageHeader({
  title,
  above,
  about,
  children,
}: {
  title: ReactNode;
  /** The way back to the list. */
  above?: ReactNode;
  about?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="page-header">
      <div>
        {above !== undefined && <p className="above">{above}</p>}
        <h1>{title}</h1>
        {about !== undefined && <p className="quiet">{about}</p>}
      </div>
      <div className="actions">{children}</div>
    </div>
  );
}

/** Facts about one thing, as pairs. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="facts">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
