-- Runs once, by psql, as the superuser of an empty volume: the nodes connect as an ordinary role that owns its database.
\getenv password POSTGRES_PASSWORD
create role tollgate login password :'password';
create database tollgate owner tollgate;
-- Without a password the superuser connects only within the container: docker compose exec postgres psql -U postgres
alter role postgres password null;
